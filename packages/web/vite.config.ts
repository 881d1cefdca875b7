import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The placeholder in `index.html` that the server replaces with a nonce for each request. */
export const NONCE = '{{nonce}}';

const COMPRESSIBLE = /\.(js|css|json|svg)$/;
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };

/** Writes a compressed copy of each file, which the server sends unchanged. */
function compress(): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    // This hook runs after all files are written, because other plugins change them before.
    async writeBundle({ dir = '' }, bundle) {
      const names = Object.keys(bundle).filter((name) => COMPRESSIBLE.test(name));
      await Promise.all(
        names.map(async (name) => {
          const content = await readFile(join(dir, name));
          await writeFile(join(dir, `${name}.br`), await promisify(brotliCompress)(content, BROTLI));
          await writeFile(join(dir, `${name}.gz`), await promisify(gzip)(content, { level: 9 }));
        }),
      );
    },
  };
}

/** All modules except those of the script that the page names. The name of this script changes with each version. */
const SHELL = /^(?!.*\/web\/(index\.html|src\/main\.tsx))/;
/** Modules of no single area. */
const COMMON =
  /\/web\/src\/(ui\/(?!QrCode)|(?!main)[^/]+$)|\/node_modules\/(@mantine|@tabler|@tanstack\/(react-query|query-core))\//;

/**
 * The chunks. Without them, each set of modules that the same pages import is a file of its own, and a page loads
 * dozens of small files. With them, a page loads the shell, the common parts of the pages for signed-in users, and its
 * area.
 */
const CHUNKS = [
  { name: 'shell', tags: ['$initial' as const], test: SHELL, priority: 3 },
  { name: 'common', test: COMMON, priority: 2 },
];

/** The web app is served below `/app/`. It loads nothing from other hosts. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  plugins: [react(), compress()],
  html: { cspNonce: NONCE },
  css: { modules: { generateScopedName: '[name]_[local]_[hash:5]' } },
  build: {
    outDir: 'dist',
    manifest: true,
    // The content security policy allows no `data:` fonts or images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups: CHUNKS } } },
    // Keeps `light-dark()` and `color-mix()`, which all browsers support since 2024.
    target: ['chrome123', 'firefox120', 'safari17.5'],
  },
});
