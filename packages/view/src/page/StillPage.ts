/**
 * Makes an HTML page without a script: texts, tables and drawings in one file, which loads no other file.
 *
 * @internal
 */
import { dark, light, type Palette } from "../drawing/Colors.ts"
import { markup } from "../text/Escape.ts"

const variables = ({ ink, line, paper, quiet, raised }: Palette): string =>
  `--paper:${paper};--ink:${ink};--quiet:${quiet};--line:${line};--raised:${raised}`

const style = [
  `:root{color-scheme:light dark;${variables(light)}}`,
  `@media screen and (prefers-color-scheme:dark){:root{${variables(dark)}}}`,
  "body{margin:2rem auto;max-width:66rem;padding:0 1rem;background:var(--paper);color:var(--ink);font:15px/1.5 ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}",
  "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}",
  "svg{max-width:100%;height:auto}",
  // a drawing keeps its size, so that its texts can be read: a narrow screen has a drawing of its own, or scrolls
  ".drawing{overflow-x:auto}.drawing svg{max-width:none}.narrow{display:none}",
  ".scroll{overflow-x:auto}",
  "table{border-collapse:collapse;font-variant-numeric:tabular-nums}",
  "caption{text-align:left;color:var(--quiet);padding:.25rem 0}",
  "th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line);vertical-align:top}",
  "td.number,th.number{text-align:right}",
  ".lead{font-size:1.2rem}a{color:inherit}",
  // on a phone each row is a card: its first cell is the title, and each other cell names its column
  "@media screen and (max-width:640px){.wide{display:none}.narrow{display:block}thead{display:none}table,tbody,caption{display:block}tr{display:block;border:1px solid var(--line);border-radius:6px;padding:.4rem .6rem;margin:.5rem 0}th[scope=row],td,td.number{display:block;border:0;padding:.1rem 0;text-align:left;overflow-wrap:anywhere}td[data-name]:not(:empty)::before{content:attr(data-name) ': ';color:var(--quiet)}}",
  "@media print{body{margin:0}svg,tr{break-inside:avoid}}"
].join("")

/** Makes the page. The title is plain text, and `body` is HTML. */
export const page = (title: string, body: string): string =>
  [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">",
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${markup(title)}</title>`,
    `<style>${style}</style>`,
    "</head>",
    "<body>",
    `<main><h1>${markup(title)}</h1>`,
    body,
    "</main>",
    "</body>",
    "</html>",
    ""
  ].join("\n")

/** A column of a table: its heading, and whether its cells are numbers, which are aligned to the right. */
export interface Column {
  readonly heading: string
  readonly isNumber?: boolean
}

/** A cell of a table: a plain text, or a text with a link to a file beside the page. */
export type Cell = string | { readonly text: string; readonly href: string }

const inner = (cell: Cell): string =>
  typeof cell === "string" ? markup(cell) : `<a href="${markup(cell.href)}">${markup(cell.text)}</a>`

/** The head of a column. One without a name is no header: a screen reader would say an empty one. */
export const headCell = (heading: string, attributes = ""): string =>
  heading === "" ? "<td></td>" : `<th scope="col"${attributes}>${markup(heading)}</th>`

/** Makes an HTML table of plain texts and links. */
export const table = (
  caption: string,
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>
): string => {
  const numbered = (column: number) => (columns[column]?.isNumber === true ? ' class="number"' : "")
  const head = columns.map(({ heading }, column) => headCell(heading, numbered(column)))
  const lines = rows.map((row) => {
    const cells = row.map((cell, column) =>
      column === 0
        ? `<th scope="row">${inner(cell)}</th>`
        : `<td${numbered(column)} data-name="${markup(columns[column]?.heading ?? "")}">${inner(cell)}</td>`
    )
    return `<tr>${cells.join("")}</tr>`
  })
  return `<div class="scroll" tabindex="0" role="region" aria-label="${markup(caption)}"><table><caption>${markup(caption)}</caption><thead><tr>${head.join("")}</tr></thead><tbody>${lines.join("\n")}</tbody></table></div>`
}

/** Makes an HTML paragraph of a plain text. */
export const paragraph = (text: string): string => `<p>${markup(text)}</p>`

/** Makes the paragraph that a reader reads first. */
export const lead = (text: string): string => `<p class="lead">${markup(text)}</p>`

/** Shows a drawing, and in its place another one on narrow screens. Both are SVG. */
export const drawings = (wide: string, narrow: string): string =>
  `<div class="drawing wide" tabindex="0" role="region" aria-label="Drawing">${wide}</div><div class="drawing narrow">${narrow.replaceAll("k-title", "k-title-narrow").replaceAll("k-desc", "k-desc-narrow")}</div>`

/** The width of a drawing for a narrow screen, in pixels. */
export const phone = 350

/** Makes a heading of a section, below the title of the page. */
export const heading = (text: string): string => `<h2>${markup(text)}</h2>`
