/**
 * Prevents text from becoming markup. The page's content security policy (`require-trusted-types-for`) makes
 * the browser call this policy for every string that would become markup. The policy refuses strings that
 * contain `<`. Libraries write only the contents of `<style>` elements, which contain no `<`.
 */
export function guardMarkup(): void {
  const { trustedTypes } = window as { trustedTypes?: TrustedTypeFactory };
  trustedTypes?.createPolicy('default', {
    createHTML: (text) => {
      if (text.includes('<')) throw new TypeError('text must not become markup');
      return text;
    },
    // Workers may only run the app's own files.
    createScriptURL(address) {
      const { origin, pathname } = new URL(address, location.href);
      if (origin !== location.origin || !pathname.startsWith('/app/assets/')) {
        throw new TypeError('scripts must be files of the app');
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

/** The nonce of this page's styles, for libraries that create `<style>` elements. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
// The library that locks scrolling behind a dialog reads the nonce from this variable.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce;
