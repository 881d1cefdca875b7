/** The button that opens the sign-in page of the OpenID Connect provider. */
import { Button } from '@mantine/core';
import { useTranslate } from '../i18n.tsx';

interface ProviderButtonProps {
  provider: string;
  /** The page of the app to open after sign-in. */
  next?: string | undefined;
  /** The token of the invitation or reset link from whose page the user signs in. */
  link?: string;
  /** True to keep the open page and sign in in another tab. */
  newTab?: boolean;
}

export function ProviderButton({ provider, next, link, newTab = false }: ProviderButtonProps) {
  const t = useTranslate();
  const query = new URLSearchParams({ ...(next && { next }), ...(link && { link }) });
  return (
    <Button
      component="a"
      href={`/api/sign-in/provider?${query}`}
      // With this policy, the header `Referer` shows the server that the visit comes from its own page. The
      // server needs it for browsers that send no `Sec-Fetch-Site`.
      referrerPolicy="origin"
      variant="filled"
      fullWidth
      {...(newTab ? { target: '_blank', rel: 'noopener' } : {})}
    >
      {t('provider.sign_in', { provider })}
    </Button>
  );
}
