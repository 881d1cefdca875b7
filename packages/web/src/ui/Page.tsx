import { type ReactNode, useEffect, useId, useRef } from 'react';
import css from './Page.module.css';

interface PageProps {
  title: string;
  /** One sentence below the title. */
  lead?: ReactNode;
  /** The one primary button, and its neighbours. */
  actions?: ReactNode;
  /** As wide as a text is read easily. */
  prose?: boolean;
  children: ReactNode;
}

let drawnBefore = false;

/** A page with its title, also in the browser's tab; the title gets the focus when one page follows another. */
export function Page({ title, lead, actions, prose = false, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const main = document.querySelector('main');
    if (drawnBefore && !main?.contains(document.activeElement))
      heading.current?.focus({ preventScroll: true });
    drawnBefore = true;
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

/** A part of a page under its own heading. */
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
