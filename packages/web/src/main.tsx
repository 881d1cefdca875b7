import './ui/styles.ts';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { loadMessages } from './i18n.tsx';
import { apply } from './preferences.ts';
import { guardMarkup } from './ui/trusted-types.ts';

guardMarkup();
apply();
await loadMessages('');
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
