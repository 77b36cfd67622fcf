// The service with its demo data, for the scripts that look at it with a browser.
'use strict';

const { spawn } = require('node:child_process');
const net = require('node:net');
const path = require('node:path');

const root = path.resolve(__dirname, '..');
const service = process.env.LECTERN || path.join(root, 'target', 'debug', 'lectern');

function freePort() {
    return new Promise((resolve, reject) => {
        const server = net.createServer();
        server.on('error', reject);
        server.listen(0, '127.0.0.1', () => {
            const { port } = server.address();
            server.close(() => resolve(port));
        });
    });
}

/** Starts the service with the demo data in a file of its own; answers its address and its process. */
async function start(scratch) {
    const port = await freePort();
    const database = `sqlite://${path.join(scratch, 'demo.db')}`;
    const child = spawn(service, ['--demo', '--listen', `127.0.0.1:${port}`, '--database', database], {
        stdio: ['ignore', 'ignore', 'inherit'],
        cwd: scratch,
    });
    const address = `http://127.0.0.1:${port}`;
    for (let tries = 0; tries < 600; tries += 1) {
        if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
        const ready = await fetch(`${address}/readyz`).then((it) => it.ok, () => false);
        if (ready) return { address, child };
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
    child.kill();
    throw new Error('the service does not become ready');
}

module.exports = {
    browserPath: process.env.CHROMIUM || '/usr/bin/chromium',
    password: 'lectern-demo',
    root,
    start,
};
