import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The web app is served below `/app/`; nothing of it comes from anywhere else. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  plugins: [react()],
  // A font or an image inlined as `data:` would need a hole in the content security policy.
  build: { outDir: 'dist', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
});
