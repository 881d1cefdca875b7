import { Button, type ButtonProps } from '@mantine/core';
import { Link as RouterLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes } from 'react';

type LinkProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> & {
  /** An address from `paths.ts`. */
  to: string;
  search?: Record<string, string | undefined> | undefined;
  /** Marks the link as current only at exactly this address, not at addresses below it. */
  exact?: boolean;
};

/** A link within the app. The link to the current page has `aria-current`. */
export function Link({ to, search, exact = false, ...rest }: LinkProps) {
  return (
    <RouterLink
      to={to}
      search={search as never}
      activeOptions={{ exact, includeSearch: false }}
      {...(rest as object)}
    />
  );
}

/** A link that looks like a button, for the recommended next page. */
export function ButtonLink({ to, search, ...button }: ButtonProps & Pick<LinkProps, 'to' | 'search'>) {
  return (
    <Button
      {...button}
      renderRoot={(props: object) => <RouterLink to={to} search={search as never} {...props} />}
    />
  );
}
