import { type ReactNode, useEffect, useId, useRef } from 'react';
import css from './Page.module.css';

interface PageProps {
  title: string;
  /** One sentence below the title. */
  lead?: ReactNode;
  /** The primary button and the buttons next to it. */
  actions?: ReactNode;
  /** Limits the width of the page, for running text. */
  prose?: boolean;
  children: ReactNode;
}

let hasRendered = false;

/**
 * A page with its title. The browser's tab shows the title too, and the title gets the focus after
 * navigation.
 */
export function Page({ title, lead, actions, prose = false, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const main = document.querySelector('main');
    if (hasRendered && !main?.contains(document.activeElement))
      heading.current?.focus({ preventScroll: true });
    hasRendered = true;
  }, []);
  return (
    <div className={prose ? `${css.page} ${css.prose}` : css.page} data-ready>
      <title>{`${title} · Dragoman`}</title>
      <header className={css.head}>
        <div>
          <h1 className={css.title} ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead !== undefined && <p className={css.lead}>{lead}</p>}
        </div>
        {actions !== undefined && <div className={css.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A part of a page with a heading. */
export function Section({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section className={css.section} aria-labelledby={id}>
      <div className={css.head}>
        <h2 id={id}>{title}</h2>
        {actions !== undefined && <div className={css.actions}>{actions}</div>}
      </div>
      {children}
    </section>
  );
}

export function Card({ children }: { children: ReactNode }) {
  return <div className={css.card}>{children}</div>;
}
