/**
 * Finds what a translation must not change, in every format: variables, addresses, paths, code, identifiers, mentions,
 * references to noncharacters, and words too long for an engine. Such words become `keep` codes. Control tags of
 * templates, escaped line breaks and separators become gaps: sentences end there, and no text moves across them.
 * Engines, checks, counting, the memory and the glossary all use this one reading.
 */

import type { Code } from '../model/document.ts';
import { Limits } from '../model/limits.ts';
import { isSpaceUnit } from '../model/spaces.ts';

/** A range of the joined text of runs, and the code that replaces it. Codes are numbered later. */
export interface Range {
  from: number;
  to: number;
  code?: { kind: Code['kind']; text?: string };
  /** Indivisible text that replaces the range instead of a code. */
  text?: string;
  /** A number that both halves of a pair share. */
  pair?: number;
}

// Matching takes linear time even for hostile text. No pattern can match the same characters in two ways, and every
// repetition has a limit or follows a literal.

/** References to the 66 noncharacters of Unicode, such as `&#xFFFF;` and `&#65535`. They are never decoded. */
const noncharacter = [
  String.raw`&#[xX]0*(?:(?:10|[1-9a-fA-F])?[fF]{3}[eEfF]|[fF][dD][dDeE][\da-fA-F])(?![\da-fA-F]);?`,
  String.raw`&#0*(?:6497[6-9]|649[89]\d|6500[0-7]|6553[45]|13107[01]|19660[67]|26214[23]|32767[89]|39321[45]|45875[01]|52428[67]|58982[23]|65535[89]|72089[45]|78643[01]|85196[67]|91750[23]|98303[89]|104857[45]|111411[01])(?!\d);?`,
];

/** A letter, digit or underscore, of any script with spaces. `\p{L}` would make the search three times as slow. */
const W = '\\w\\u00c0-\\u1fff';
/** Nothing of a word stands before. */
const ALONE = `(?<![${W}])`;
/** Before the name of an assignment, and behind its value. */
const KEY = `(?<![${W}.%$@/"'=&?-])`;
const VALUE_END = `(?![${W}²³=])`;
/** The folders at the root of a system. */
const SYSTEM = 'api|bin|dev|etc|home|lib|mnt|opt|proc|root|srv|tmp|usr|var';
/** A part of a path. */
const SEGMENT = `[${W}@+.-]{0,99}[${W}@+-]`;
/** White space, an opening mark or nothing stands before. */
const APART = `(?<![^\\s("'[])`;

/** Tags that write a value into a sentence, as variables do, though they look like control tags. */
const VALUE_TAG = String.raw`\{%(?:-?\s?(?:(?:trans|translate|static|now|path|asset)\s["']|url\s|csrf_token)(?:[^{}%\n]|%(?!\})){0,200}|[A-Z][A-Z\d_]{1,60})%\}`;
const PHP_VALUE = String.raw`\?php\s{1,9}(?:echo|print|_e|esc_|the_|get_)`;
const TT_VALUE = String.raw`\[%-?\s?[a-z][\w.]{0,60}(?:\s?\|\s?\w{1,30})?\s?-?%\]`;
/** Matches the start of such a tag in HTML. */
export const writesValue = /^<(?:[%?][=-]|\?php\s{1,9}(?:echo|print|_e|esc_|the_|get_))/;

/** Commands of LaTeX whose argument is text. */
const LATEX = String.raw`\\(?:emph|text(?:bf|it|tt|sc|rm|sf)|underline|(?:sub){0,2}section\*?|chapter\*?|title|footnote|caption)`;

/**
 * Control tags of templates, and escaped line breaks: they produce no word, so the texts on both sides are separate
 * sentences. The key is the sign that they begin with.
 */
const control: Record<string, readonly string[]> = {
  '{': [
    String.raw`(?!${VALUE_TAG})\{%(?:[^{}%\n]|%(?!\})|\{[^{}\n]{0,100}\}){1,200}%\}`, // Jinja, Liquid, Twig
    String.raw`\{\{(?:%|<(?! (?:rel)?ref ))[^{}\n]{1,300}\}\}`, // Hugo
    String.raw`\{[#/:](?:if|else|each|await|then|catch|key|snippet)(?![\w-])[^{}\n]{0,200}\}`, // Svelte
    String.raw`\{\{~?(?:[#/^!]|--|else[ }~])[^{}\n]{0,200}\}\}?`, // Handlebars, Mustache, Blade
    String.raw`\{\s?(?:\$[A-Za-z][\w-]{0,60}|[A-Z]{2,30}\([^(){}\n]{1,100}\))\s?->`, // Fluent
    String.raw`\{#[^{}#\n]{0,200}#\}|\{\*[^*\n]{0,200}\*\}`, // comments of Jinja and Smarty
    String.raw`\{\/?(?:if|else|elseif|foreach|foreachelse|for|section|while|block|capture|strip)(?:[ ][^{}\n]{0,200})?\}`, // Smarty
  ],
  '#': [
    String.raw`#(?:if|elseif|foreach|set|macro)\s?\((?:[^()\n]|\([^()\n]{0,100}\)){1,200}\)`, // Velocity
    String.raw`(?<=#(?:if|foreach|set|macro)\s?\([^\n]{0,300}|(?:^|\n)[ \t]{0,20})#(?:(?:else|end)(?![\w-])|\{(?:else|end)\})`,
  ],
  '<': [
    '<!--[^\\n]{0,1000}?-->',
    String.raw`<%(?![=-])[^%\n]{1,200}%>`, // ERB, EJS, JSP
    String.raw`<(?!${PHP_VALUE})\?php[^?\n]{1,200}\?>`,
    String.raw`<\/?#[a-z]{2,20}(?:[ ][^<>\n]{0,200})?>`, // FreeMarker
  ],
  '%': [String.raw`%%\[[^\]\n]{0,500}\]%%`], // AMPscript
  '*': [
    String.raw`\*\[[A-Za-z\d][\w.-]{0,60}\](?=\s)`, // Fluent
    String.raw`\*\|(?:IF|IFNOT|ELSEIF|ELSE|END|INTERESTED)(?::[^|*\n]{0,100})?\|\*`, // Mailchimp
  ],
  '[': [
    String.raw`(?<=->[^\n]{0,300}|(?:^|\n)[ \t]{0,20})\[(?:zero|one|two|few|many|other)\](?=\s)`, // Fluent
    String.raw`(?!${TT_VALUE})\[%(?!=)[^%\n]{1,200}%\]`, // Template Toolkit
  ],
  '@': [
    String.raw`@(?:(?:if|elseif|foreach|for|unless|isset|while) ?\([^()\n]{0,200}\)|(?:else|end(?:if|foreach|for|unless|isset|while))(?![\w.]))`,
  ], // Blade
  '\\': [String.raw`(?<!\\)(?:\\[nrt])+(?!(?:ext(?:bf|it|tt|sc)?|itle|ef|ewcommand|oindent)\{)`], // strings of programs, not commands of LaTeX
};

/** Other protected words that begin with a sign, by that sign. */
const signed: Record<string, readonly string[]> = {
  '{': [
    String.raw`\{\{\{?(?:[^{}\n]|\{[^{}\n]{0,100}\}){1,200}\}\}\}?`, // {{x}} {{{x}}}
    String.raw`\{[a-z]\w{0,30} \w{1,30}=['"$][^{}\n]{0,200}\}`, // {l s='x'}
    String.raw`\{![^{}\n]{1,100}\}`, // {!Contact.Name}
    VALUE_TAG,
    String.raw`\{@(?:html|render|const|debug)\s[^{}\n]{1,200}\}`, // Svelte
    String.raw`\{[^{}\n]{1,100}(?:\|\||&&|\?\?|[!=]==?)[^{}\n]{1,100}\}`, // {name || "Guest"}
    String.raw`\{\w{1,60},\s?choice,(?:[^{}\n]|\{[^{}\n]{0,100}\}){1,500}\}`,
    String.raw`(?<!${LATEX})\{[^{}\s]{1,100}\}`, // {x} {0} {name!r} {0:dd/MM/yyyy} {$n}
    String.raw`\{ ?[-$]?[${W}][${W}.[\]-]{0,100} \}`, // { $n } { -term }
    String.raw`\{ ?(?:[A-Z][A-Z_]{0,40}|-[${W}][${W}-]{0,60})\([^(){}\n]{0,200}\) ?\}`, // { DATETIME($date) } { -term(case: "x") }
    String.raw`\{[${W}.]{1,100}(?:![rsa])?(?:,\s*(?:number|date|time|spellout|ordinal|duration|choice)|:(?! ))[^{}\n]{0,200}\}`, // {0,number} {d:%H %M}
  ],
  '$%#@': [String.raw`(?:\$!|[$%#@])\{[^{}\n]{1,200}\}`], // ${x} $!{x} %{x} #{x}
  '<': [
    String.raw`<(?:%[=-][^%\n]{1,200}%|(?:\?=|${PHP_VALUE})[^?\n]{1,200}\?|PRI[diouxX]\w{1,10})>`, // <%= x %> <?= x ?> <PRIu64>
    String.raw`<(?:v(?:\.[\w-]{1,40}){0,3}[ ]\p{Lu}[^<>\n]{0,100}|c(?:\.[\w-]{1,40}){1,3})>`, // <v.loud Ann> of WebVTT
    String.raw`<(?:[@#!](?!-)[^<>\s][^<>\n]{0,100}|a?:\w{1,60}:\d{1,30}|t:\d{1,15}(?::\w)?)>`, // <@U024BE7LH|house> <!here> <:name:1>
  ],
  '[': [
    String.raw`\[\[(?:[\w.:-]{1,100}|[+*~!$%-][^[\]\n]{1,100})\]\]`, // [[name]]
    String.raw`\[![A-Z]{2,20}\]`, // [!NOTE]
    String.raw`\[[A-Za-z][\w-]{0,60}(?::[\w-]{1,60})+\]`, // [user:name]
    String.raw`\[[A-Za-z]\w{0,60},\s?\w{1,60}=[^[\]\n]{0,100}\]`, // [x,fallback=y]
    String.raw`\[[a-z][a-z\d]{0,60}(?:_[a-z\d]{1,60})+\]`, // [first_name]
    String.raw`\[%=[^%\n]{1,200}%\]|${TT_VALUE}`,
    String.raw`(?<=(?<![^\s(*_])\[[^[\]\n]{2,100}\])\[(?:\d{1,3}|[a-z]|[a-z][\w.]{0,40}[-\d.][\w.-]{0,40})\](?!\()|(?<![^\n])\[[^[\]\s]{1,60}\]:(?=\s<?(?:https?:|[./#]))`, // references of Markdown
  ],
  '%': [
    String.raw`%%(?:=[^=\n]{1,200}=|[A-Za-z_]\w{0,60})%%`, // %%=v(@x)=%% %%name%%
    String.raw`%(?:\d{1,2}\$)?#@\w{1,60}@`, // plural keys of Xcode
    String.raw`%\([A-Za-z_]\w{0,100}\)[-+0# ]?\d{0,3}(?:\.\d{1,3})?[a-zA-Z]`, // %(x)s
    String.raw`%<\w{1,60}>(?:[-+0#]?\d{0,3}(?:\.\d{1,3})?[a-zA-Z](?![a-zA-Z]))?`, // %<x>d
    String.raw`(?<![\d%]|\d\s)%(?:\d{1,2}\$)?[-+0#',]?\d{0,3}(?:\.\d{1,3})?(?:hh|h|ll|l|q|L|z|t|j)?[@sdiufFxXeEgGcCoSpaA](?![A-Za-z\u00c0-\u1fff]{2})`, // %s %1$d %@ %.2f
    String.raw`(?<=\d\s)%(?:\d{1,2}\$)?[@sd](?![A-Za-z\u00c0-\u1fff'’-])`,
    String.raw`%[A-Za-z_][\w.-]{0,60}(?:\|[^%|\s]{1,60})?%(?:\\(?![nrt])[\w.()-]{1,60}){0,10}`, // %x% %APPDATA%\x
    String.raw`(?<![${W}%]|\d\s)%(?:L?[1-9](?![${W}%$]|[.,]\d)|n(?![${W}%]))`, // %1 %n of Qt
    String.raw`(?<![${W}%]|\d\s)%[a-z][\w-]{1,60}`, // %title
  ],
  $: [
    String.raw`\$t?\([^()\n]{1,200}\)`, // $t(key) of i18next, $(command)
    // A formula has an operator, and no words.
    String.raw`(?<!\$)\$\$(?!\$)(?=[^$\n]{0,300}[\\^_=<>+*])(?![^$\n]{0,300}, )(?:[^$\n\\A-Za-z]|\\(?:[A-Za-z]{1,30}|[^A-Za-z\n])|(?<![A-Za-z])[A-Za-z]{1,3}(?![A-Za-z])){1,300}\$\$(?!\$)`,
    String.raw`\$(?![\s\d$])(?=[^$\n]{0,200}[\\^_=<>+*])(?:[^$\n\\A-Za-z]|\\(?:[A-Za-z]{1,30}|[^A-Za-z\n])|(?<![A-Za-z])[A-Za-z]{1,3}(?![A-Za-z])){1,200}(?<!\s)\$(?![\w\${])`,
    String.raw`\$env:\w{1,60}`,
    String.raw`(?<![^\n])\$ (?:(?:sudo|npm|npx|yarn|pnpm|git|cd|ls|pip\d?|docker|curl|wget|apt(?:-get)?|brew|make|python\d?|node|cargo|go|cp|mv|rm|cat|echo|export)(?= )|\.{0,2}\/|~)[^\n]{0,500}`, // a command after its prompt
    String.raw`(?<![${W}$])\$(?:!(?!important))?[A-Za-z_][${W}]{0,60}(?:(?:->|::|\/)\w{1,60}){0,9}\$?`, // $name $user->name $HOME/x
  ],
  '@': [
    String.raw`@(?:\.\w{1,30})?:(?:\(\w[\w.]{0,100}\)|\w[\w.]{0,99}\w)`, // linked messages of Vue
    String.raw`@@\w{1,60}@@|@\([A-Za-z][\w.]{0,60}\)|@(?:lang|choice|trans|json|csrf|include|yield|(?:Html|Url)\.\w{1,30})\([^()\n]{0,200}\)`,
    `(?<![${W}@.])@[a-z\\d][\\w.-]{0,60}\\/[a-z\\d][\\w.-]{0,60}(?<![.-])`, // @scope/name
    `(?<![${W}@.])@[${W}][${W}.-]{0,99}(?<![.-])`, // @mention
  ],
  '!': [String.raw`${APART}![a-z]\w{1,60}`], // !author
  '#': [
    String.raw`(?<!#)#{1,3}\w{1,60}#{1,3}`, // ###NAME###
    String.raw`(?<![${W}&#/])#[A-Za-z\u00c0-\u1fff\u3040-\ud7ff][${W}\u3040-\ud7ff-]{0,100}`, // #tag
  ],
  '*': [String.raw`\*\|[^|*\n]{1,100}\|\*`], // *|FNAME|*
  ':': [
    String.raw`(?<![${W}:])(?::[a-z\d_+-]{1,60}:){1,9}(?![${W}:])`, // :smile:
    String.raw`(?:${APART}:(?:[a-z]|[A-Z]{2})|(?<![^\n]):[A-Z][a-z])\w{0,60}(?![${W}:])`, // :name :NAME, and :Name where a line begins
  ],
  '-': [
    String.raw`${APART}-(?:\w{0,30}[A-Z\d_]\w{0,30}|(?:user)?name|user|e?mail|url|link|date|time|count|number|id|title|site|page|price|sender|order|code)-(?![^\s.,;:!?)"'\]])`, // -name-
    String.raw`(?<![${W}-])--[A-Za-z][\w-]{0,60}(?:=[^\s"'\x60,;)\]]{1,100})?`, // --option=value
  ],
  '`': [
    `(?<![${W}\`])\`\`\`[^\`\\n]{1,1000}\`\`\`(?![${W}\`])`,
    `(?<![${W}\`])\`\`(?:[^\`\\n]|\`(?!\`)){1,1000}\`\`(?![${W}\`])`,
    `(?<![${W}\`])\`[^\`\\n]{1,1000}\`(?!\`)`,
  ],
  '"': [
    String.raw`(?<=(?:^|\n)\s{0,20})"[^"\n]{1,200}"(?=\s?=\s?")`, // the key of a string of iOS
    String.raw`(?<=(?:^|[{,])\s{0,20})"[A-Za-z_$][\w$.-]{0,60}"(?=\s?:\s?(?:["'[{\d-]|true\b|false\b|null\b))`,
  ], // the key of a JSON object
  '~./': [
    String.raw`(?:(?<![^\s("'[])(?:(?:~|\.{1,2})(?:\/${SEGMENT}){1,30}|(?:\/${SEGMENT}){2,30}|\/(?:${SYSTEM})(?![${W}])|\/(?=[${W}@+.-]{0,60}[\d_.][${W}])${SEGMENT}|\/\/[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,5}(?:\/${SEGMENT}){1,20})|(?<=\})(?:\/${SEGMENT}){1,30}|(?<![^])\/[a-z][\w-]{1,30}(?![^\s])|(?<![^\s("'[])\/${SEGMENT}(?=\?[\w.-]{1,40}=))\/?(?:\?[\w.~%-]{1,60}=[\w.~%=&+-]{0,200})?`, // /usr/bin ./x ~/x /x?y=1
    String.raw`${APART}\.(?:[a-z][\w-]{1,40}|NET)(?:\.[\w-]{1,40}){0,3}(?![${W}])`, // .env .NET
  ],
  '\\': [
    String.raw`\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2})`,
    String.raw`\\\([A-Za-z_][\w.]{0,60}(?:\(\))?\)`, // \(name) of Swift
    String.raw`\\\((?=[^()\n]{0,200}(?:[\^=<>+*]|\\[A-Za-z]))[^()\n]{1,200}\\\)`, // formulas of LaTeX
    String.raw`\\\[(?=[^\]\n]{0,200}(?:[\^=]|\\[A-Za-z]))[^\]\n]{1,200}\\\]`,
    String.raw`\\(?:cite\w{0,10}|(?:eq|page|auto)?ref|label|url|input|include\w{0,20}|begin|end|usepackage|documentclass)(?:\[[^\]\n]{0,100}\])?\{[^{}\n]{0,100}\}`,
    String.raw`${LATEX}(?=\{)`,
  ],
  '&': [
    ...noncharacter,
    String.raw`&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|amp|lt|gt|quot|apos|nbsp|shy|hellip|[mn]dash|[lr][sd]?a?quo|[sb]dquo|euro|pound|yen|cent|copy|reg|trade|deg|bull|middot|times|sect|para|szlig|plusmn|iexcl|iquest|ord[fm]|frac(?:12|14|34)|sup[123]|[lrudh]arr|check|hearts|infin|dagger|permil|e[nm]sp|thinsp|zwn?j|[A-Za-z]{1,2}(?:acute|grave|circ|tilde|uml|cedil|ring|slash|lig));`, // &#39; &amp; &eacute;
  ],
};

/** Endings that only names of files and hosts have: none is also a word that may follow a full stop. */
const endings =
  '7z apk avi bak bash bat bmp bz2 cc cfg cjs cnf com conf cpp crt cs css csv cue db deb diff dll dmg doc ' +
  'docx dtd edu env eps epub exe fla flac flv gif gov gpg gz hpp htm html ico ics idml ini ipa ipynb iso jar java jpeg ' +
  'jpg js json json5 jsonl jsx kt log lua md mdx mjs mkv mov mp3 mp4 mpeg mpg msi net nfo odp ods odt ogg org ' +
  'otf pdf pem php pl plist png pot ppt pptx ps1 psd py pyc rar rb resx rpm rs rst rtf scss sdlxliff sh sql sqlite srt ' +
  'ssa svg swf tar tbx tex tgz tif tiff tmx toml ts tsv tsx ttf txt vtt vue wav webm webp wmv woff woff2 xcf xhtml xlf ' +
  'xliff xls xlsx xml xsd xsl xz yaml yml zip zsh io dev app gmbh';

/** The characters of a URL. Text may follow the URL without a space, so marks that a URL rarely has end it. */
const LETTERS =
  '\\u00a1-\\u02ff\\u0370-\\u037d\\u0386-\\u0588\\u05d0-\\u05ea\\u0620-\\u065f\\u066e-\\u06d3\\u0900-\\u0963\\u0966-\\u0dff';
const inUrl = `\\w~:/?#[\\]@!$&'()*+,;=.%${LETTERS}-`;
const endOfUrl = `\\w~/#@$&*+=%${LETTERS}-`;
const CJK = '\\u3005\\u3040-\\u30ff\\u4e00-\\u9fff\\uac00-\\ud7a3';
/** Schemes without two slashes, with what must stand behind the colon where people write it in prose, too. */
const OPAQUE =
  '(?:mailto|callto|skype|sips?|xmpp|javascript|whatsapp|facetime|intent|bitcoin):(?=[\\w+?%(])|(?:tel|sms|geo):(?=[+-]?\\d)|urn:(?=[a-z\\d])|data:(?=[a-z]+/)|magnet:(?=\\?)|about:(?=[a-z])';
const inPath = String.raw`[^\\/:*?"<>|\s]`;

/** Protected words that begin with a letter or digit: addresses, and names of files, hosts and identifiers. */
const named = [
  String.raw`(?<=\]\()[^()\s]{1,500}(?=[)\s])`, // the target of a Markdown link
  // Behind a name of a host in Chinese or Japanese, a path may have such letters, too.
  String.raw`(?<![A-Za-z\d])[A-Za-z][A-Za-z\d+.-]{1,15}:\/\/[${CJK}][\w${CJK}-]{0,62}(?:\.[\w-]{1,63}){1,3}(?:\/[${inUrl}${CJK}]*[${endOfUrl}${CJK}])?`,
  String.raw`(?<![A-Za-z\d])(?:(?:jdbc|view-source|blob|feed):)?[A-Za-z][A-Za-z\d+.-]{1,15}:\/\/(?:[${inUrl}]*[${endOfUrl}])?`,
  String.raw`(?<![\w.:/-])(?:${OPAQUE})(?:[${inUrl}]*[${endOfUrl}])?`,
  String.raw`(?<![\w.:/-])(?:localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5}(?![\w.])|(?=\/))(?:\/[\w~?#@!$&*+=.%/-]{0,199}[\w~/#@$&*+=%-])?`,
  String.raw`(?<![\w.-])www\.[\w-]{1,63}\.[\w~:/?#[\]@!$&'()*+,;=.%-]*[\w~/#@$&*+=%-]`,
  String.raw`(?<![\w.+%-])[\w.+%-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,126}(?::[\w~-]{1,60}(?:\/[\w.~-]{0,60}[\w~-]){1,9})?`,
  String.raw`${ALONE}(?:[A-Za-z]:(?!\\[nrt](?:[A-Z\\\s]|$))|\\\\[\w.-]{1,63})\\(?:${inPath}{1,100}(?: ${inPath}{1,100}){0,3}\\)*(?:${inPath}{0,100}[${W}])?`, // C:\x \\host\x
  String.raw`${ALONE}[A-Za-z]:(?:\/${SEGMENT}){1,30}`, // C:/x
  String.raw`${ALONE}(?:HKEY_[A-Z_]{4,30}|HK(?:LM|CU|CR|U|CC)(?=\\))(?:\\${inPath}{1,60}(?: (?!HK)${inPath}{1,60}){0,3}(?=\\)){0,20}(?:\\${inPath}{0,60}[${W}])?`, // keys of the registry
  String.raw`(?<![${W}.@/-])[${W}][${W}-]{0,99}\.(?:COM|ORG|NET|DOCX?|XLSX?|PPTX?|PDF|TXT|JPE?G|PNG|GIF|ZIP|EXE|DLL|BAT|INI|XML|HTML?|CSV|MP[34])(?![${W}-]|\.[${W}])`,
  String.raw`(?<![${W}.@/-])(?:[a-z\d][a-z\d-]{0,62}\.){1,4}(?:com?|org|ac|gov|net|edu)\.[a-z]{2}(?![${W}/-]|\.[${W}])`, // example.co.uk
  String.raw`(?<![${W}.@/-])[${W}][${W}-]{0,99}(?:[./][${W}-]{1,99}){0,20}\.(?:${endings.replaceAll(' ', '|')})(?:(?=\/)(?:\/[\w~?#@!$&*+=.%-]{0,199}[\w~/#@$&*+=%-])*|(?![${W}-]|\.[${W}]))`, // file.txt example.com/x
  String.raw`(?<![${W}_.@/-])(?:[a-z\d][a-z\d-]{0,62}\.){1,5}[a-z]{2,6}\/[\w~?#@!$&*+=.%/-]{0,199}[\w~/#@$&*+=%-]`, // bit.ly/x
  String.raw`${ALONE}(?:__[A-Z][A-Z\d_]{0,60}__|_{0,2}[A-Za-zÀ-ÿ\d]{1,60}(?:_(?!in(?:nen)?(?![${W}]))[A-Za-zÀ-ÿ\d]{1,60}){1,20}_{0,2})(?![${W}])`, // __NAME__ HOUSE_KEY
  String.raw`${ALONE}(?!g?GmbH(?![${W}]))[A-Za-z\d]{0,60}?[a-z\d](?!In(?:nen)?(?![${W}]))[A-Z][A-Za-z\d]{0,60}(?![${W}])`, // camelCase, not LehrerInnen
  String.raw`${ALONE}[A-Za-z_]\w{0,60}(?:::~?[A-Za-z_]\w{0,60}){1,9}(?![${W}])`, // std::string
  `${ALONE}[A-Z]{2,10}[a-z]{2,60}(?![${W}])`, // GLib
  String.raw`${ALONE}[A-Za-z_]\w{0,60}(?:(?:\.[A-Za-z_]\w{0,60}){1,6}(?=\()|\(\))`, // console.log(x) run()
  String.raw`(?<![${W}-])(?!\d{1,4}(?:-[A-Z]{3,30}){1,5}(?![${W}-]))(?=[A-Z-]{0,60}\d)(?=[\d-]{0,60}[A-Z])[A-Z\d]{1,30}(?:-[A-Z\d]{1,30}){1,9}(?![${W}-])`, // SKU-RED-42
  String.raw`(?<![${W}-])(?:[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}|(?=[a-f]{0,60}\d[a-f]{0,60}\d)(?=\d{0,60}[a-f])[\da-f]{7,128})(?![${W}-])`, // numbers of objects and commits
  String.raw`(?<![${W}/.-])(?:application|audio|font|image|multipart|text|video)\/(?:json|xml|html|plain|css|csv|javascript|png|jpe?g|gif|webp|mpeg|mp4|ogg|pdf|zip|octet-stream|form-data|svg\+xml|(?:x-|vnd\.)[\w.+-]{1,60}\w)(?![${W}])`,
  String.raw`(?<![${W}.])v\d{1,9}(?:\.\w{1,20}){1,9}`, // v1.2.3
  String.raw`${ALONE}\d{1,2}(?:[:.]\d{2})?[ap]m(?![${W}])`, // 10am
  String.raw`(?<![${W}/])[A-Z]\/[A-Z](?![${W}/])`, // N/A
  String.raw`${KEY}(?:[A-Za-z_]\w{0,60}[_.-][\w.-]{0,60}|[A-Z][A-Z\d_]{2,60})=[\w./:@%+-]{0,200}[\w/]${VALUE_END}`, // NODE_ENV=production
  String.raw`${KEY}[A-Za-z_][\w.-]{0,60}=(?:"[^"\s]{1,100}"|'[^'\s]{1,100}'|(?:-?\d[\d.]{0,30}\w{0,9}|true|false|null|none|on|off|yes|no|(?=[\w./:@%+-]{0,60}[_/.:@\d])[\w./:@%+-]{0,200}[\w/])${VALUE_END})`, // mode="fast" size=10
  String.raw`${ALONE}[a-z\d]?\p{Lu}[${W}'’-]{0,60}[®™℠]`, // Windows®
].join('|');

/**
 * Separators between labels, such as `Red | Big`, `Tools > Options` and `Name / Address`. A sentence that ends with a bar, or
 * has it in quotation marks, names it.
 */
const separators =
  /(?<=[^\s«“„]|^)[ \u00a0](?:\|(?!.{0,200}\|[.,;])|[¦｜›»→←⇒➜➔▶•●‣▪∙⋅·/>]\ufe0f?|[▸►❯✓✔✗✘☐☑☒✅❌➡○■□◆]\ufe0f?(?=[ \u00a0][\p{Lu}\d¿¡"“«(])|::|\|{2,4}|>>|->|=>|-->)[ \u00a0](?=\S|$)|(?<=[\w\u00c0-\u1fff.!?)])\|(?=[\w\u00c0-\u1fff[({])|(?<=[\p{Ll}\d])[>→▸►](?=\p{Lu}\p{Ll})/gu;
/** The mark of a list, a heading, a quotation, a directive or a task at the beginning of a line. */
const LIST_MARK =
  /^\s{0,20}(?:>[> \u00a0]{0,20})?(?:(?:\(?(?:[A-Za-z]|[ivxIVX]{1,4}|\d{1,3})\)(?:$|(?=[ \u00a0]))|[•‣▪◦–*+☐☑☒✓✔✗✘-]|#{2,6}|\.\.[ ][\w-]{1,30}::|:::[ ][\w-]{1,30}|(?:!!!|\?{3}\+?)[ ](?:note|tip|warning|info|danger|caution|important|success|question|failure|bug|example|abstract|quote))(?:$|[ \u00a0](?=\S|$)))?(?:\[[ xX]\][ ])?/u;
/** The key of a line of a properties file, before a value of several words. */
const PROPERTY =
  /^\s{0,20}[a-z][A-Za-z\d-]{0,60}(?:[._]{1,3}[A-Za-z\d-]{1,60}){1,9}\s?=\s?(?!(?:on|off|true|false|yes|no|none|null)\s)(?=\p{L}[\p{L}'’-]{0,40},?\s\p{L})/u;

/** All parts of the patterns below, for the test that none takes quadratic time. */
export const PARTS: readonly string[] = [...Object.values(control), ...Object.values(signed), [named]].flat();

/**
 * Returns one pattern for words that begin with a sign. The alternatives are grouped by the sign, because trying all of
 * them at each sign takes three times as long.
 */
function bySign(words: Record<string, readonly string[]>): RegExp {
  const groups = Object.entries(words).map(
    ([sign, list]) => `(?=[${sign.replace(/[\\[]/, '\\$&')}])(?:${list.join('|')})`,
  );
  return new RegExp(groups.join('|'), 'gu');
}

const controlTags = bySign(control);
const signs = bySign(signed);
// Each search has a cheap test before it, because most sentences have nothing that is protected.
const anyControl =
  /\{[%{#/:*iefswbc]|->|\[(?:zero|one|two|few|many|other)|#(?:if|else|end|foreach|set|macro|\{e)|<[%?/#!]|%%\[|\*\||\[%|@[eifuw]|\\[nrt]/;
const anySign = /[{}%@$#[`/<~*&]|(?:^|,)\s*"|[:!.][a-z]|:[A-Z]|--|-[A-Za-z]\w*-|\.NET|\\[ux]|&#?\w+;/;
const anySeparator = /[ \u00a0][|¦｜›»→←⇒➜➔▶▸►❯•●○■□◆‣▪∙⋅·✓✔✗✘☐☑☒✅❌➡/>=:-]|\|[^\s|*]|[>→▸►]\p{Lu}/u;
const names = new RegExp(named, 'gu');
/** What every match of `names` has between two characters that are not white space. */
const inName =
  /:\/\/|www\.|[\w.+%-]@[A-Za-z\d]|:\\|\\\\|[\w\u00c0-\u1fff-]\.(?:[a-z]|\d[\w.]{0,60}[a-z])|[A-Za-z\d]_|_[A-Za-z]|[a-z\d][A-Z]|[A-Z]{2}[a-z]{2}|[A-Z]-[A-Z\d]|\d-[A-Z\d]|v\d|\d[ap]m|[A-Z]\/[A-Z]|\]\(|\w\(\)|\w::\w|\w=["'\w./]|[a-z]:[\w+?%(-]|localhost|\.\d{1,3}[:/]|[A-Za-z]:\/|HK[A-Z_]{1,20}\\|\.[A-Z]{3}|[\da-f]{7}|[\dA-F]{8}-|[neot]\/[a-z]|[\w\u00c0-\u1fff][®™℠]/gu;

/**
 * A character at which a word ends: white space, or a character of a script without spaces, in which a long
 * run of characters is a sentence.
 */
const wordEnd =
  /[\s\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\u3000-\u303f\uff00-\uffef]/gu;

/**
 * Returns the ranges of a text that must not be translated, in order.
 * @param begins true if the text begins a line, so that it may begin with the mark of a list
 * @param own the matches of the customer's own patterns
 */
export function protectedRanges(text: string, begins = true, own: Range[] = []): Range[] {
  const lists: Range[][] = [own];
  if (begins) lists.push(layoutRanges(text));
  if (anyControl.test(text)) lists.push(rangesOf(text, controlTags, 'gap'));
  if (anySign.test(text)) {
    // A command such as `/help` begins a line. After a code or a variable, `/month` is a word of the text.
    const isUnit = ({ from, to }: Range) =>
      (!begins && from === 0 && isPer(text.slice(from, to))) ||
      (text[from - 1] === '}' && PER_TIME.test(text.slice(from, to)));
    lists.push(rangesOf(text, signs, 'keep').filter((one) => !isUnit(one)));
  }
  if (anySeparator.test(text)) {
    // A guillemet may end a quotation, and `>` may compare two numbers.
    const compares = text.includes(' < ') || /^[^>]* > \d[^>]*$/.test(text);
    const unsure = `${text.includes('«') ? '»' : ''}${text.includes('‹') ? '›' : ''}${compares ? '>' : ''}`;
    const found = rangesOf(text, separators, 'gap');
    const bars = textBars(text);
    const divides = ({ from, to }: Range) =>
      to - from > 1
        ? !unsure.includes(text.slice(from, to).trim())
        : text[from] === '|'
          ? bars.has(from)
          : text[from] !== '>' || !text.includes('<');
    lists.push(found.filter(divides));
  }
  lists.push(nameRanges(text));
  if (/<[A-Za-z/]|\[\/?[A-Za-z]|\[\[|\{\d+>/.test(text)) lists.unshift(tagsOf(text));
  if (text.length > Limits.word && hasLongRun(text)) lists.unshift(longWords(text));
  const found = lists.filter(({ length }) => length > 0);
  return found.length > 1 ? inOrder(text, found.flat()) : (found[0] ?? []);
}

/** Returns the marks at the beginning of a line, and the borders of cells where it is the row of a table. */
function layoutRanges(text: string): Range[] {
  const mark = PROPERTY.exec(text)?.[0] ?? LIST_MARK.exec(text)?.[0] ?? '';
  const found = mark.trim() === '' ? [] : [range(0, mark, 'gap')];
  const borders = /^\s*\|.*\|\s*$/.test(text)
    ? /(?<!\\)\|/g
    : /^\s*".*"\s*$/.test(text)
      ? /(?<=[^\s,;]")[,;](?="[^\s,;])/g
      : undefined;
  if (borders !== undefined) found.push(...rangesOf(text, borders, 'gap'));
  if (/(?:1|[aAiI])\)\s/.test(text) && /\s\(?(?:2|[bB]|[iI]{2})\)\s/.test(text))
    found.push(...enumeration(text));
  return found;
}

const ROMAN = ['', 'i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix', 'x'];

/**
 * Returns the marks of an enumeration inside a line, such as `1) red; 2) big`. One in the middle of a sentence, as in
 * `we (a) buy and (b) sell`, does not end it.
 */
function enumeration(text: string): Range[] {
  const found: Range[] = [];
  let count = 0;
  let isList = false;
  for (const { index, 0: mark, 1: name = '' } of text.matchAll(
    /(?<!\S)\(?(\d{1,2}|[a-zA-Z]|[ivx]{1,4})\)(?=\s)/g,
  )) {
    const next = count + 1;
    const own = name.toLowerCase();
    if (own !== `${next}` && own !== ROMAN[next] && own !== String.fromCharCode(96 + next)) continue;
    const before = text.slice(0, index).trimEnd();
    if (count === 0) isList = before === '' || before.endsWith(':');
    count = next;
    found.push(range(index, mark, isList || /[;.!?]$/.test(before) ? 'gap' : 'keep'));
  }
  return count > 1 ? found : [];
}

/** Returns whether a path is words behind a price, and no folder of a system. */
const isPer = (path: string): boolean =>
  /^(?:\/[a-z-]+){1,2}$/.test(path) && !SYSTEM.split('|').includes(path.split('/')[1]!);
const PER_TIME =
  /^\/(?:user|hour|day|week|month|year|hora|d[íi]a|semana|mes|mês|año|ano|heure|jour|semaine|mois|an|mese|anno)$/;

const LIST_OF_WORDS = /^[^\s|]{1,100}(?:\|[^\s|]{1,100}){1,100}$/;

/**
 * Returns where bars without spaces divide texts, as in `One apple|Many apples` and `apple|apples`. They do not in
 * brackets, quotation marks and addresses, and `on|off` in a sentence is a choice of words.
 */
function textBars(text: string): ReadonlySet<number> {
  const isList = LIST_OF_WORDS.test(text);
  const bars = new Set<number>();
  let depth = 0;
  let isQuoted = false;
  let isAddress = false;
  for (let at = text.indexOf('|') < 0 ? text.length : 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '\n') [depth, isQuoted, isAddress] = [0, false, false];
    else if (character === ' ') isAddress = false;
    else if ('([{<'.includes(character)) depth++;
    else if (')]}>'.includes(character)) depth = Math.max(0, depth - 1);
    else if (character === '"' || character === '`') isQuoted = !isQuoted;
    else if (text.startsWith('://', at)) isAddress = true;
    else if (character === '|' && depth === 0 && !isQuoted && !isAddress)
      if (isList || /^[\p{Lu}[{(]/u.test(text.slice(at + 1, at + 3))) bars.add(at);
  }
  return bars;
}

function rangesOf(text: string, pattern: RegExp, kind: 'gap' | 'keep'): Range[] {
  return Array.from(text.matchAll(pattern), ({ index, 0: found }) => range(index, found, kind));
}

/** Searches for names only in the words that may have one. */
function nameRanges(text: string): Range[] {
  const ranges: Range[] = [];
  let position = 0;
  for (const { index } of text.matchAll(inName)) {
    if (index < position) continue;
    let start = index;
    while (start > position && !isSpaceUnit(text.charCodeAt(start - 1))) start -= 1;
    let end = index + 1;
    while (end < text.length && !isSpaceUnit(text.charCodeAt(end))) end += 1;
    const word = text.slice(start, end);
    // Paths of Windows may have spaces.
    const within = /:\\|^\W?\\\\|HK[A-Z_]{1,20}\\/.test(word) ? text.slice(start, end + Limits.word) : word;
    for (const match of within.matchAll(names)) {
      const from = start + match.index;
      // Of a name of several words, no word alone is kept.
      const isHalf =
        /[®™℠]$/.test(match[0]) && /\p{Lu}[^\s.!?:]{0,40} $/u.test(text.slice(Math.max(0, from - 42), from));
      if (match.index < word.length && !isHalf) ranges.push(range(from, match[0], 'keep'));
    }
    position = Math.max(end, ranges.at(-1)?.to ?? 0);
  }
  return ranges;
}

const tag =
  /<(?<end>\/)?(?<name>[A-Za-z\d][\w:-]{0,60})(?:\/|(?<attributes>[\s=][^<>\n]{0,500}))?>|\[(?<close>\/)?(?<code>[A-Za-z][\w-]{0,60})(?<given>=[^[\]\n]{1,200}| [\w-]{1,60}=[^\s[\]][^[\]\n]{0,1000})?\]|\{(?<first>\d{1,3})>|<(?<last>\d{1,3})\}/gu;
/** A link of a wiki with the words that readers see. */
const wikiLink = /\[\[[^[\]\n]{1,200}\|(?=[^[\]|\n]{1,200}\]\])/g;

/** The elements of forums and chats that stand inside a sentence. Other elements in brackets are blocks. */
const inBrackets = new Set('b i u s em strong url link color size font sup sub email user'.split(' '));

/**
 * Returns the tags of a plain text: pairs whose end tag is there too, such as `<link>…</link>` and `[b]…[/b]`, and empty
 * elements. A single `<name>` is not a tag, because people write so about tags and arguments.
 */
function tagsOf(text: string): Range[] {
  const found: Range[] = [];
  /** Blocks, and elements that have attributes. They are tags even without an end tag in this line. */
  const alone: Range[] = [];
  const open = new Map<string, Range[]>();
  let pairs = 0;
  for (const { index, 0: raw, groups = {} } of text.matchAll(tag)) {
    const { end, close, name, attributes, code: bracketed, given, first, last } = groups;
    const isBlock =
      name === undefined
        ? bracketed !== undefined && !inBrackets.has(bracketed.toLowerCase())
        : isBlockTag(name);
    const one = range(index, raw, isBlock ? 'gap' : 'single');
    const key = (name ?? (bracketed === undefined ? `{${first ?? last}` : `[${bracketed}`)).toLowerCase();
    if (end !== undefined || close !== undefined || last !== undefined) {
      const start = open.get(key)?.pop();
      if (start === undefined) {
        // The start may be in another line, and nobody writes `</name>` or `[/name]` otherwise.
        found.push(one);
        continue;
      }
      pairs += 1;
      if (!isBlock) {
        start.code = { kind: 'open' };
        one.code = { kind: 'close' };
      }
      start.pair = pairs;
      one.pair = pairs;
      found.push(start, one);
    } else if (raw.endsWith('/>') || /^(?:[bh]r|img|input|wbr)$/.test(key)) found.push(one);
    else {
      const hasAttributes = given?.startsWith(' ') || /^\s[\w:-]{1,60}=["']/.test(attributes ?? '');
      if (hasAttributes || (name !== undefined && isBlock)) alone.push(one);
      const waiting = open.get(key);
      if (waiting === undefined) open.set(key, [one]);
      else waiting.push(one);
    }
  }
  for (const { index, 0: raw } of text.includes('[[') ? text.matchAll(wikiLink) : []) {
    pairs += 1;
    const start = range(index, raw, 'open');
    const end = range(text.indexOf(']]', index), ']]', 'close');
    found.push({ ...start, pair: pairs }, { ...end, pair: pairs });
  }
  return [...found, ...alone.filter(({ pair }) => pair === undefined)].sort((a, b) => a.from - b.from);
}

/** Blocks among the tags of a text. `<link>` and `<title>` are not: programs name their own tags so. */
const isBlockTag = (name: string): boolean =>
  /^(?:article|aside|blockquote|br|dd|details|summary|div|dl|dt|figcaption|figure|footer|h[1-6]|header|hr|li|ol|p|pre|section|table|tbody|td|th|thead|tr|ul)$/i.test(
    name,
  );

/**
 * Sorts ranges by their position. Of two that overlap, the one that begins first remains, and grows to the end of the
 * other if both are words: an address may end after the long word that it begins in.
 */
function inOrder(text: string, ranges: Range[]): Range[] {
  const kept: Range[] = [];
  for (const one of ranges.sort((a, b) => a.from - b.from)) {
    const last = kept.at(-1);
    if (last === undefined || one.from >= last.to) kept.push(one);
    else if (last.code?.kind === 'keep' && one.code?.kind === 'keep' && one.to > last.to) {
      kept[kept.length - 1] = range(last.from, text.slice(last.from, one.to), 'keep');
    }
  }
  const halves = new Map<number, number>();
  for (const { pair } of kept) if (pair !== undefined) halves.set(pair, (halves.get(pair) ?? 0) + 1);
  return kept.filter(({ pair }) => pair === undefined || halves.get(pair) === 2);
}

/**
 * Finds words above the length limit. It searches for word ends, because one match of several million characters
 * would overflow the stack of V8's regular expressions.
 */
function longWords(text: string): Range[] {
  const found: Range[] = [];
  let start = 0;
  const end = (at: number) => {
    if (at - start <= Limits.word) return;
    const word = text.slice(start, at);
    // The limit is a number of code points. A code point has at most two UTF-16 code units, so a word of more than
    // twice the limit in units need not be counted.
    if (word.length > 2 * Limits.word || [...word].length > Limits.word)
      found.push(range(start, word, 'keep'));
  };
  for (const match of text.matchAll(wordEnd)) {
    end(match.index);
    start = match.index + match[0].length;
  }
  end(text.length);
  return found;
}

/**
 * Returns true if a run without an ASCII space is longer than the limit of a word. Only characters at
 * distances of the limit plus one are examined, because a longer run contains at least one of them.
 */
function hasLongRun(text: string): boolean {
  const step = Limits.word + 1;
  for (let at = Limits.word; at < text.length; at += step) {
    let start = at;
    let end = at;
    while (start >= 0 && text.charCodeAt(start) > 0x20 && at - start < step) start -= 1;
    while (end < text.length && text.charCodeAt(end) > 0x20 && end - at < step) end += 1;
    if (end - start - 1 >= step) return true;
  }
  return false;
}

function range(from: number, found: string, kind: Code['kind']): Range {
  return {
    from,
    to: from + found.length,
    code: kind === 'keep' ? { kind, text: shorten(found) } : { kind },
  };
}

/** Returns what readers see in place of a protected range. Long text is truncated. */
export function shorten(text: string): string {
  if (text.length <= Limits.word) return text;
  return `${text
    .slice(0, Limits.word - 1)
    .toWellFormed()
    .replace(/\ufffd$/, '')}…`;
}
