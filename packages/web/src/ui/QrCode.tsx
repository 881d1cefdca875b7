import { encodeQR } from 'qr';
import css from './QrCode.module.css';

/** The light border around the code, in modules (ISO/IEC 18004). */
const BORDER = 4;

/** A QR code, dark on light in both themes, because many cameras read no inverted codes. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const rows = encodeQR(text, 'raw', { border: BORDER });
  const modules = rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : '')));
  return (
    <svg
      className={css.code}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width="100%" height="100%" fill="#fff" />
      <path d={modules.join('')} fill="#000" />
    </svg>
  );
}
