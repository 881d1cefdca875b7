/** Renders the keys of a shortcut as key caps. */
import css from '../styles/workbench.module.css';

export function Caps({ caps }: { caps: readonly string[] }) {
  return (
    <span className={css.caps} dir="ltr">
      {caps.map((cap) => (
        <kbd key={cap}>{cap}</kbd>
      ))}
    </span>
  );
}
