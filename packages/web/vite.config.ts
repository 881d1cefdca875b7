import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Stands in `index.html` for what the server makes anew for each request. */
export const NONCE = '{{nonce}}';

const WORTH_IT = /\.(js|css|json|svg)$/;
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };

/** Beside each file the same, compressed: the server sends it as it is. */
function compress(): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    // When they are written: before, other plugins still change them.
    async writeBundle({ dir = '' }, bundle) {
      const names = Object.keys(bundle).filter((name) => WORTH_IT.test(name));
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

/** The web app is served below `/app/`; nothing of it comes from anywhere else. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  plugins: [react(), compress()],
  html: { cspNonce: NONCE },
  css: { modules: { generateScopedName: '[name]_[local]_[hash:5]' } },
  build: {
    outDir: 'dist',
    manifest: true,
    // A font or an image inlined as `data:` would need a hole in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // `light-dark()` and `color-mix()` as they are: what every browser has since 2024.
    target: ['chrome123', 'firefox120', 'safari17.5'],
  },
});
