/** Adds a button to each code block of a guide, which copies the block to the clipboard. */
const SHOWN_MS = 2_000;

for (const block of document.querySelectorAll('.code pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.ariaLive = 'polite';
  let timer;
  button.addEventListener('click', async () => {
    button.textContent = await copy(block);
    clearTimeout(timer);
    timer = setTimeout(() => {
      button.textContent = 'Copy';
    }, SHOWN_MS);
  });
  block.after(button);
}

/** Returns what happened. Without HTTPS, a browser has no clipboard for pages, so the text is only selected. */
async function copy(block) {
  try {
    // Without the last line end, so that a pasted command does not run before the reader has looked at it.
    await navigator.clipboard.writeText(block.textContent.trimEnd());
    return 'Copied';
  } catch {
    getSelection().selectAllChildren(block);
    return 'Selected';
  }
}
