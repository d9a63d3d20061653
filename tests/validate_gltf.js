// Prints the official validator's report of a glTF file: node validate_gltf.js FILE
const path = require('path');
const fs = require('fs');
const validator = require(path.join(__dirname, '..', '.tools', 'node_modules', 'gltf-validator'));
validator
  .validateBytes(new Uint8Array(fs.readFileSync(process.argv[2])), { maxIssues: 50 })
  .then(report => process.stdout.write(JSON.stringify(report)))
  .catch(error => { process.stderr.write(String(error)); process.exit(1); });
