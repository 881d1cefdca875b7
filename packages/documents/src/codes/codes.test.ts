import { describe, expect, test } from 'vitest';
import { result, sent, target, xliff } from '../../test/helpers.ts';
import { countWords, scan } from '../documents.ts';
import { Limits } from '../model/limits.ts';
import { protectedRanges } from './codes.ts';

const found = (text: string) => protectedRanges(text).map(({ from, to }) => text.slice(from, to));

test.each([
  ['Hi {{name}}!', ['{{name}}']],
  ['Hi {{ user.name | upcase }}!', ['{{ user.name | upcase }}']],
  ['{{{raw}}} text', ['{{{raw}}}']],
  ['{% if x %}yes{% endif %}', ['{% if x %}', '{% endif %}']],
  ['{x} and {0} and {user.name}', ['{x}', '{0}', '{user.name}']],
  ['{0,number,#.##} left', ['{0,number,#.##}']],
  ['$' + '{x} and %{y} and #{z}', ['$' + '{x}', '%{y}', '#{z}']],
  ['%s and %1$d, %@ or %.2f, %lld', ['%s', '%1$d', '%@', '%.2f', '%lld']],
  ['%(name)s is %name%', ['%(name)s', '%name%']],
  ['<%= name %> came', ['<%= name %>']],
  ['50% of all, 100%sure, 5 % off', []],
  ['{some words in braces}', []],
  ['a @ b, C++ {, }', []],
  ['See https://example.com/a?b=c&d=e#f.', ['https://example.com/a?b=c&d=e#f']],
  ['(http://example.com/x)', ['http://example.com/x']],
  ['请访问http://example.com看看', ['http://example.com']],
  ['www.example.com, please', ['www.example.com']],
  ['Write to a.b+c@example.co.uk.', ['a.b+c@example.co.uk']],
  ['all `Step`s and `code`d `path `is', ['`Step`', '`code`', '`path `']],
  ['the -b/--dry-run and l10n---wait, addressed--bug', ['--dry-run']],
  ['URLs, CIDs and THE house', []],
  ['console.log(x), dog.bark("a") and end.', ['console.log', 'dog.bark']],
  ['1 < 2 and "x"', []],
  [
    'it&#39;s, fish &amp; chips, 2&pi;r, &#x27;caf&eacute;&#39;',
    ['&#39;', '&amp;', '&#x27;', '&eacute;', '&#39;'],
  ],
  ['Say \\(user.name), $x^2 = y_1$, \\(a^2\\), not $5 = x$', ['\\(user.name)', '$x^2 = y_1$', '\\(a^2\\)']],
  ['Go to [the guide][g] and [x] [y], or t[O][v]', ['[g]']],
  ['"the key" = "The house";', ['"the key"']],
  ['Set %1 of %2 and %n files, 5 %1, %2$.*1$s', ['%1', '%2', '%n']],
  ['{"red": "big", "a.b" : 5} and "that": yes', ['"red"', '"a.b"']],
  ['  "title": "The house",', ['"title"']],
  ['std::string and A::B::~C, say A:: and 10::20', ['std::string', 'A::B::~C']],
] as [string, string[]][])('protectedRanges finds the variables and addresses in: %s', (text, wanted) => {
  expect(found(text)).toEqual(wanted);
});

/** Each family of protected words, in a sentence of lower-case words that an engine changes. */
const families: [string, string[]][] = [
  [
    'of Python and .NET',
    ['{user!r}', '{total:>8.2f}', '{when:%d.%m.%Y %H:%M}', '{1:yyyy-MM-dd}', '{amount:N2}'],
  ],
  ['of Fluent', ['{ $count }', '{$who}', '{ -product-name }', '{ -name(case: "genitive") }']],
  ['of Fluent, with calls', ['{ NUMBER($ratio, style: "percent") }']],
  ['of ICU', ['{0,number,#.##}', '{1,choice,0#none|1#one}', '{days, date, long}']],
  ['of Xcode', ['%#@files@', '%1$#@dirs@', '%1$@', '%lld']],
  ['of Ruby', ['%<total>.2f', '%<who>s', '%{who}']],
  ['of Velocity', ['$!{user.name}', '$!who']],
  ['of WebVTT', ['<v.loud Ann Smith>', '<c.red.big>']],
  ['of Laravel, Drupal and forums', [':attribute', ':PLACE', '!author', '%title', '@count', '-sender-']],
  ['of shells, PHP and Dart', ['$HOME', '$user->name', '$total', '$HOME/docs']],
  ['of i18next and Vue', ['$t(common.save)', '@:menu.file', '@.lower:menu.file']],
  [
    'like control tags',
    ['{%NAME%}', '%NAME|you%', '{% url "home" %}', '[% user.name %]', '<?php echo $x; ?>', '{@html x}'],
  ],
  [
    'with expressions',
    ['{name || "you"}', '{0,choice,0#none|1<{0} files}', '$(whoami)', '@@name@@', '@lang("x")'],
  ],
  ['of mails', ['*|FNAME|*', '%%first_name%%', '%%=v(@who)=%%', '###NAME###', '{!Contact.FirstName}']],
  ['of content systems', ['[user:name]', '[first_name]', '[[name]]', '[code,fallback=none]', '[%= who %]']],
  ['of chats', [':tada:', ':+1:', '@ann.smith', '<!here>', '<@U024BE7LH|ann>', '#release', '<:wave:123>']],
  [
    'code',
    [
      ...['`git push`', '``a ` b``'],
      ...'HOUSE_KEY __NAME__ snake_case camelCase run() SEG_DÉBUT GLib set_teams_8_'.split(' '),
      ...'@types/babel__core SKU-RED-42 --dry-run --out=dir DEBUG=true mode="fast"'.split(' '),
    ],
  ],
  [
    'addresses',
    [
      ...'chrome://settings/ s3://bucket/key HTTPS://Example.COM/a myapp://open/x ann@example.com'.split(' '),
      ...'mailto:ann@example.com?subject=hi tel:+4912 urn:isbn:12 data:text/plain;base64,aGk='.split(' '),
      ...'http://例え.jp/家 https://el.wikipedia.org/wiki/Σπίτι jdbc:mysql://host/db localhost:80/x'.split(
        ' ',
      ),
      ...'10.0.0.1:80/api git@github.com:ann/x.git //cdn.example.com/x.js example.co.uk HOUSE.COM'.split(' '),
    ],
  ],
  [
    'paths',
    [
      ...['C:\\Program Files\\App\\a.txt', '\\\\host\\share', '/api/users?id=5&sort=name'],
      ...['/usr/local/bin', './run.sh', '~/notes', 'notes/guide.md', '/users?id=5'],
      ...['C:/Users/ann', '%APPDATA%\\My\\a.txt', '\\\\host\\the share\\a.txt', 'HKLM\\Software\\House'],
    ],
  ],
  ['names', 'photo.png Photo.JPG example.com/house .gitignore v1.2.3 10am 5:30pm N/A Windows®'.split(' ')],
  ['numbers of objects', '3f2a9c1 a1b2c3d4-e5f6-7890-abcd-ef1234567890 application/json'.split(' ')],
];

describe.each(families)('protected words: %s', (_, words) => {
  const plain = words.map((word) => `take ${word} now`).join(' and ');
  const upper = plain
    .split(/( ?(?:take|now|and) ?)/)
    .map((part) => (/^ ?(?:take|now|and) ?$/.test(part) ? part.toUpperCase() : part))
    .join('');
  const escaped = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  test.each(['text', 'html', 'srt', 'vtt', 'xliff'] as const)('stay as they are in %s', (format) => {
    const document = (text: string) =>
      format === 'text'
        ? text
        : format === 'html'
          ? `<p>${escaped(text)}</p>`
          : format === 'srt'
            ? `1\n00:00:01,000 --> 00:00:02,000\n${text}\n`
            : format === 'vtt'
              ? `WEBVTT\n\n00:01.000 --> 00:02.000\n${escaped(text)}\n`
              : xliff(`<trans-unit id="1"><source>${escaped(text)}</source></trans-unit>`);
    const made = result(document(plain), format).replace(/\s+/g, ' ');
    const seen = format === 'xliff' ? (target(made) ?? '') : made;
    const decoded = seen.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
    expect(decoded).toContain(upper);
    expect(countWords(scan(document(plain), format), 'en')).toBe(3 * words.length - 1);
  });
});

test.each([
  ['a and/or b, he/she, 24/7, km/h, 12/31/2026', []],
  ["don`t and won`t, it's `this", []],
  ['the house.the dog, Yes.No, end.Start', []],
  ['ratio 3:1, 10:30:00, Note: this, a :) b', []],
  ['well-known -- and 5 - 3, (the) house, e.g. this, U.S.A.', []],
  ['LehrerInnen, Lehrer_innen, ArbeiterIn', []],
  ['9,99 €/Monat, 30€/noche, $10 /month, homme /femme, 100 %/an', []],
  ["10 %-ig, 100 %d'abord, -Sí -dijo-, una casa -grande- y", []],
  ['it begins with "|" and ends with "|".', []],
  [':Name went home', [':Name']],
  ['Note :This is a house', []],
  ['It starts with | but does not end with |.', []],
  ['Il commence par « | » mais pas ici', []],
  ['The P(A|B) of nginx (start|stop), or "a|B".', []],
  ['trace on|off, the male|female ratio', []],
  ['She said that [many] people left [other] towns.', []],
  ['I like fish &chips; they are &Co; good, <v 5 and x> 3, costs $!important', []],
  ['a = b, well =) and ok= this, Acme ® and the dog™', []],
  ['M=Male; F=Female, Rouge=stop, E=mc², caf=C3=A9, Pain Relief™', []],
  ['He said, "Stop": I did not. "Red", "Blue" : both', []],
  ['Did you see /etc/hosts?Yes', ['/etc/hosts']],
  ['12. Mai in Berlin', []],
  ['\\textbf{very} big, \\nHi{name} and \\cite{smith}', ['\\textbf', '\\n', '{name}', '\\cite{smith}']],
  ['facade, defaced, decade2, 1990s, text/image and either/or', []],
  ['30-DAY TRIAL, 3-ZIMMER-WOHNUNG, d.h. Kinder', []],
  ['@José, $año, 5 %s and 3 %d', ['@José', '$año', '%s', '%d']],
  ['caf\\u00e9', ['\\u00e9']],
  ["{{ t('a', {n: 1}) }} and {l s='x' mod='y'}", ["{{ t('a', {n: 1}) }}", "{l s='x' mod='y'}"]],
  ['bit.ly/x and example.co.uk/page', ['bit.ly/x', 'example.co.uk/page']],
  ['555-1234, 10-20 days, 2026-11-29, 1-2', []],
  ['_very_ big, __very__ big, *very* big', []],
  ['C++, C#, AT&T, R&D, a @ b, $5, US$ 10, 50%', []],
  ['Use <b> for this and <file> for that', []],
  ['AT&T; R&D; and Johnson&Johnson; the Muster GmbH', []],
] as [string, string[]][])('protectedRanges leaves prose alone: %s', (text, wanted) => {
  expect(found(text)).toEqual(wanted);
});

test('a unit of time after a code is a word, and a command that begins a line is none', () => {
  const units = '<p><b>$5</b>/month, <b>$5</b>/user/month, {{price}}/month</p>';
  expect(result(`${units}<p>/month</p><p><b>x</b>/usr</p>`, 'html')).toBe(
    `${units.replaceAll('month', 'MONTH').replace('user', 'USER')}<p>/month</p><p><b>X</b>/usr</p>`,
  );
});

test.each([
  ['{% if vip %}The house{% else %}The dog{% endif %}', ['The house', 'The dog']],
  ['{{#if x}}One{{else}}Two{{/if}} {{! note }}three', ['One', 'Two', 'three']],
  ['{if $x}One{else}Two{/if}', ['One', 'Two']],
  ['%%[ IF @a == "house" THEN ]%%One%%[ ENDIF ]%%', ['One']],
  ['*|IF:HOUSE|*One*|ELSE:|*Two*|END:IF|*', ['One', 'Two']],
  ['[button link="x y"]Read more[/button] [gallery id="1"]', ['Read more']],
  ['The house.\\nThe dog\\tThe cat', ['The house.', 'The dog', 'The cat']],
  ['Plan A:\\nThe house', ['Plan A:', 'The house']],
  ['{#if x}One{:else}Two{/if}', ['One', 'Two']],
  ['Color: Red | Size: Big', ['Color: Red', 'Size: Big']],
  ['| Name | Size of it |', ['Name', 'Size of it']],
  ['"Red","The house; big"', ['"Red"', '"The house; big"']],
  ['Home :: Shop ▸ House ✓ Done', ['Home', 'Shop', 'House', 'Done']],
  ['File>Save, <b>Big', ['File>Save, <b>Big']],
  ['Open File>Save', ['Open File', 'Save']],
  ['where size > 5 and size < 6', ['where size > 5 and size < 6']],
  ['1) open it; 2) close it', ['open it;', 'close it']],
  ['We (a) buy and (b) sell', ['We [(a)] buy and [(b)] sell']],
  ['> > - [x] The house', ['The house']],
  ['!!! note The house{{< /x >}}Big', ['The house', 'Big']],
  ['.. note:: The house ✅ Big', ['The house', 'Big']],
  ['home.title=The house', ['The house']],
  ['NODE_ENV=production node', ['[NODE_ENV]=production node']],
  ['See [[Main Page|the page]]', ['See |the page|']],
  ['{1>The house<1} is {2>big<2}', ['|The house| is |big|']],
  ['Open Tools > Options → Language', ['Open Tools', 'Options', 'Language']],
  ['The <a href="x">house. <b class=\'y\'>The dog</i>', ['The |house.', 'The dog']],
  ['{ $n -> [one] One *[male] Two } { NUMBER($n) -> [few] Six }', ['One', 'Two }', 'Six }']],
  ['#if($x.of($y))One#{else}Two#elseif ($z) Three#end', ['One', 'Two', 'Three']],
  ['Help us #end hunger, C#end, (#else) here', ['Help us [#end] hunger, C#end, ([#else]) here']],
  ['Messages|Archive', ['Messages', 'Archive']],
  ['There is one apple|There are many apples', ['There is one apple', 'There are many apples']],
  ['{0} none|[1,19] some|[20,*] many', ['[{0}] none', '[1,19] some', '[20,*] many']],
  ['Home » Shop » Houses', ['Home', 'Shop', 'Houses']],
  ['« Viens. » Il partit » vite', ['« Viens. »', 'Il partit » vite']],
  [
    'Le nom «\u00a0pris\u00a0» est ‹\u00a0pris\u00a0› ici',
    ['Le nom «\u00a0pris\u00a0» est ‹\u00a0pris\u00a0› ici'],
  ],
  ['a < b and c > d', ['a < b and c > d']],
  ['a) The house', ['The house']],
  ['(iv) The house', ['The house']],
  ['• The house', ['The house']],
  ['The <link>house</link> is <b>big</b><br>The dog', ['The |house| is |big|', 'The dog']],
  ['The [b]house[/b]', ['The |house|']],
  ['<p>One</p><p>Two</p>', ['One', 'Two']],
  ['<b><i>Bold house</i></b>', ['Bold house']],
  ['First<br/>Second', ['First', 'Second']],
  ['<p align="center">The house', ['The house']],
  ['<!-- note --> Hello', ['Hello']],
  ['{* note *}Hello', ['Hello']],
  ['{% assign p = x | append: "%" %}One', ['One']],
  ['```\nfor house in houses\n```\nThe house', ['The house']],
  ['```\nThe house', ['The house']],
  ['One\n~~~\nTwo\n~~~\nThree', ['One', 'Two', 'Three']],
  ['It\\\'s the \\"house\\"', ['It\'s the "house"']],
  ['"The \\"big\\" house", \'It\\\'s red\'', ['The "big" house', "It's red"]],
  ['The marks "\\" and "/" here', ['The marks "\\" and "/" here']],
  ["It''s {0} house", ["It's [{0}] house"]],
  ['{n, plural,\n  one {# house}\n  other {# houses}\n} here', ['[# houses] here', '# house', '# houses']],
] as [string, string[]][])('no text moves across tags and separators of: %s', (text, wanted) => {
  expect(sent(text, 'text')).toEqual(wanted);
});

test('escaped quotation marks are escaped in the translation, as in the source', () => {
  expect(result("The dog\\'s house.", 'text', () => [{ text: "L'eau d'ici" }])).toBe("L\\'eau d\\'ici");
  expect(result("It''s {0}.", 'text', () => [{ text: "L'eau" }, { keep: 1, text: '' }])).toBe("L''eau{0}");
});

test('protectedRanges protects words that are too long for an engine, but not long sentences without spaces', () => {
  const just = 'x'.repeat(Limits.word);
  expect(found(`a ${just} b`)).toEqual([]);
  expect(found(`a ${just}x b`)).toEqual([`${just}x`]);
  expect(found(`a ${just}x{y} b`)).toEqual([`${just}x{y}`]);
  expect(found('这'.repeat(1_000))).toEqual([]);
  expect(protectedRanges(`${just}x`)[0]!.code!.text!.length).toBe(Limits.word);
});
