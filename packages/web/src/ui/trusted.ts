/**
 * Text becomes markup nowhere in the app: the page's policy (`require-trusted-types-for`) has the browser ask here
 * before any string becomes some, and a string with a `<` in it is refused. What libraries put into `<style>` has none.
 */
export function guardMarkup(): void {
  const { trustedTypes } = window as { trustedTypes?: TrustedTypeFactory };
  trustedTypes?.createPolicy('default', {
    createHTML: (text) => {
      if (text.includes('<')) throw new TypeError('text is not made into markup');
      return text;
    },
    // A worker's program is one of the app's files.
    createScriptURL(address) {
      const { origin, pathname } = new URL(address, location.href);
      if (origin !== location.origin || !pathname.startsWith('/app/assets/')) {
        throw new TypeError('a script is one of the app’s own files');
      }
      return address;
    },
  });
}

interface TrustedTypeFactory {
  createPolicy(
    name: string,
    rules: Record<'createHTML' | 'createScriptURL', (text: string) => string>,
  ): unknown;
}

/** The nonce of this page's styles, for libraries that make `<style>` themselves. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
// What locks the page's scrolling behind a dialog looks for it here.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce;
