import './ui/styles.ts';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { apply } from './look.ts';
import { guardMarkup } from './ui/trusted.ts';
import { loadWords } from './words.tsx';

guardMarkup();
apply();
await loadWords('');
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
