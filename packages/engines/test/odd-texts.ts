/** Short texts with unusual letters, marks and codes. None of them may fail in any direction. */

const LINES = String.raw`
R&D|Our R&D team|r&d|P&L|M&A|Q&A|B&B|AT&T|A&E|H&M|D&D|S&P 500|M&M's|Research & Development|R & D|R+D|I+D|I+D+i|A+|A+B|a+b|1+1|C++|C++11|C#|F#|C|R|.NET
Google+|Disney+|Canal+|Notepad++|+1|+34 600 000 000|x+y=z|word+word|House+Garden|House + Garden|red+blue+green houses|ctrl+alt+del|Ctrl+C|CTRL + C|⌘+C|Alt+F4
@home|@|#|@@|##|#house|#Houses|#1|#1 house|No. #1|C# house|house#1|house@1|x@y|me@home|@me @you|@home and @work|user@host:~$|git@github.com:house/red.git|@media (min-width: 3px)|@Override|#include <house.h>|#!/bin/sh|#️⃣
N/A|n/a|w/o|w/|c/o|a/c|and/or|he/she|y/n|Y/N|I/O|A/B|A/B test|O/X|24/7|1/2|½|km/h|TCP/IP|OS/2|/house|house/|//|/etc/house|C:\house|\|\n|\nThe house|\tThe house|It\'s
A|a|I|O|E|Y|é|À|a)|A)|(a)|a.|b) The house|B. The house|1) The house|1. The house|i. The house|iv) The house|* The house|- The house|• The house|– The house|→ The house|> The house|>> The house
Plan A|Plan B|Plan A and B|Vitamin A|Hepatitis A|grade A house|Type O|X|x|X-ray|T-shirt|e-mail|E-mail|i-phone|iPhone|IPHONE|iPad|eBay|YouTube|GitHub|JavaScript|LaTeX|McDonald's|O'Brien|l'eau|d'or|rock 'n' roll|'tis
10am|10 am|10AM|5pm|10am-5pm|10am–5pm|10:30am|10.30 pm|9-5|5'10"|5" x 3"|30°C|30 °C|5%|5 %|$5|5 $|€5|5 €|£5.00|USD 5|1,000.50|1.000,50|1e10|0x1F|1st|2nd|3rd|10th|1º|2ª|n.º 5|No. 5|#5
U.S.A.|U.S.|EE. UU.|e.g.|i.e.|etc.|a.k.a.|Mr. Smith|Dr. A. Smith|J. R. R. Tolkien|St. John|p. 5|pp. 5-7|v1.2.3|v. 2|§ 5|¶ 3|© 2024|® house|house™|†|‡ house|house*|*house*|**house**|_house_|__house__|~house~|~~house~~|\`house\`|\`\`\`house\`\`\`
house|HOUSE|House|hOUSE|HOUSE house|THE house|The HOUSE|ÉCOLE|école|niño|NIÑO|ﬁne|ﬂat|ß|straße|Ǆ|ǅ|İstanbul|ısı|Ω|Å|K|ª|º|№|℃|①|Ⅷ|²|m²|m³|H₂O|CO₂|x²+y²
house?|house!|house?!|house!?|house!!!|house???|?|!|¿house?|¡house!|¿|¡|house…|house...|...house|…|—|–|-|--|---|house—garden|house – garden|house -- garden|house-garden|house_garden|house.garden|house,garden|house;garden|house:garden|house|house || garden
"house"|“house”|„house“|«house»|‹house›|'house'|‘house’|"house|house"|"|""|"" ""|(house)|[house]|{house}|<house>|((house))|[[house]]|{{house}}|<<house>>|(house|house)|[|]|^house$|^|$|$house|%house%|%|100%|&|&amp;|&house;|house&garden|=|==|=>|->|<-|<=>|!=|:=|:|::|;|,|.
😀|😀 house|house😀|house 😀 garden|👍🏽|👩‍👩‍👧‍👦 house|❤️|house ❤️|🇪🇸|🇪🇸house|:)|:-)|;-)|:D|<3|^_^|¯\_(ツ)_/¯|漢字|漢字 house|house漢字|عربي|שלום house|Привет|Ελλάδα house|ไทย|한국어
`;

/** Texts that cannot be in the list above. */
const OTHERS = [
  '`house`',
  '```house```',
  'nin\u0303o',
  'cafe\u0301',
  '\u200bhouse\u200b',
  'ho\u00aduse',
  'house\u00a0garden',
  '\ufeffhouse',
  'house|house || garden',
  '|',
  '\\',
];

export const ODD_TEXTS: readonly string[] = LINES.split(/[\n|]/)
  .filter((text) => text !== '')
  .concat(OTHERS);
