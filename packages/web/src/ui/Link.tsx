import { Button, type ButtonProps } from '@mantine/core';
import { Link as RouterLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes } from 'react';

type LinkProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> & {
  /** One of `paths.ts`. */
  to: string;
  search?: Record<string, string | undefined> | undefined;
  /** Where we are is it, and not an address below. */
  exact?: boolean;
};

/** A link within the app. The one to where we are says so to assistive technology (`aria-current`). */
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

/** A link that looks like a button: it leads somewhere, and is where one should go. */
export function ButtonLink({ to, search, ...button }: ButtonProps & Pick<LinkProps, 'to' | 'search'>) {
  return (
    <Button
      {...button}
      renderRoot={(props: object) => <RouterLink to={to} search={search as never} {...props} />}
    />
  );
}
