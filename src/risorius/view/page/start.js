async function show(library) {
  try {
    const { header, arrays } = await unpack();
    const view = await drawing(library, 'view', header, arrays);
    document.getElementById('wait').remove();
    window.page = new Page(view, header, arrays);
  } catch (error) {
    document.getElementById('wait').textContent = `This page could not be shown: ${error.message}`;
    console.error(error);
  }
}

// The loader takes plain functions only, not asynchronous ones.
require(['k3d'], library => { show(library); });
