/** The Mantine theme. `base.css` and `mantine.css` set the colours. */
import {
  Button,
  createTheme,
  defaultVariantColorsResolver,
  Input,
  type MantineColorsTuple,
  type VariantColorsResolver,
} from '@mantine/core';

const ACCENT = Array.from({ length: 10 }, () => 'var(--accent)') as unknown as MantineColorsTuple;

/**
 * The colours of buttons. In the dark theme the accent is light, and the text on it is dark. `danger` is red
 * in both themes.
 */
const variantColorResolver: VariantColorsResolver = (input) => {
  const { variant, color } = input;
  const danger = color === 'danger';
  if (variant === 'filled') {
    return {
      background: danger ? 'var(--danger)' : 'var(--accent)',
      hover: danger ? 'var(--danger-hover)' : 'var(--accent-hover)',
      color: danger ? 'var(--on-danger)' : 'var(--on-accent)',
      border: '1px solid transparent',
    };
  }
  if (variant === 'subtle' || variant === 'transparent') {
    const hover = variant === 'subtle' ? 'var(--sunken)' : 'transparent';
    return {
      background: 'transparent',
      hover,
      color: danger ? 'var(--danger)' : 'var(--text)',
      border: 'none',
    };
  }
  return defaultVariantColorsResolver(input);
};

const SMALL = { size: 'sm' } as const;

export const theme = createTheme({
  colors: { accent: ACCENT, danger: ACCENT },
  primaryColor: 'accent',
  variantColorResolver,
  respectReducedMotion: true,
  cursorType: 'pointer',
  defaultRadius: 8,
  components: {
    Button: Button.extend({ defaultProps: { ...SMALL, variant: 'default' } }),
    ActionIcon: { defaultProps: { variant: 'subtle', size: 36 } },
    TextInput: { defaultProps: SMALL },
    NumberInput: { defaultProps: SMALL },
    Textarea: { defaultProps: SMALL },
    NativeSelect: { defaultProps: SMALL },
    Select: { defaultProps: SMALL },
    Checkbox: { defaultProps: SMALL },
    Switch: { defaultProps: { ...SMALL, withThumbIndicator: false } },
    InputWrapper: Input.Wrapper.extend({ defaultProps: { withAsterisk: false } }),
    // The component itself is not imported, because pages without a dialog do not load it.
    Modal: { defaultProps: { centered: true, transitionProps: { duration: 140 } } },
    Drawer: { defaultProps: { transitionProps: { duration: 140 }, position: 'right' } },
    Menu: { defaultProps: { transitionProps: { duration: 120 }, position: 'bottom-end' } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: false } },
  },
});
