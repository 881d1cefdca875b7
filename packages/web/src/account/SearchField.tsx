import { TextInput } from '@mantine/core';
import { useState } from 'react';

interface SearchFieldProps {
  label: string;
  value: string;
  maxLength?: number;
  onSearch(text: string): void;
}

/** A search field that applies its text on Enter or blur, because each search is a request. */
export function SearchField({ label, value, maxLength, onSearch }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const apply = () => text.trim() !== value && onSearch(text.trim());
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <TextInput
        type="search"
        label={label}
        maxLength={maxLength}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={apply}
      />
    </form>
  );
}
