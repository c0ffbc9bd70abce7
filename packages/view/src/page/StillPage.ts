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
  ".scroll{overflow-x:auto}",
  "table{border-collapse:collapse;font-variant-numeric:tabular-nums}",
  "caption{text-align:left;color:var(--quiet);padding:.25rem 0}",
  "th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line);vertical-align:top}",
  "td.number,th.number{text-align:right}",
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

/** Makes an HTML table of plain texts. */
export const table = (
  caption: string,
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): string => {
  const numbered = (column: number) => (columns[column]?.isNumber === true ? ' class="number"' : "")
  const head = columns.map(({ heading }, column) => `<th scope="col"${numbered(column)}>${markup(heading)}</th>`)
  const lines = rows.map((row) => {
    const cells = row.map((cell, column) =>
      column === 0 ? `<th scope="row">${markup(cell)}</th>` : `<td${numbered(column)}>${markup(cell)}</td>`
    )
    return `<tr>${cells.join("")}</tr>`
  })
  return `<div class="scroll" tabindex="0" role="region" aria-label="${markup(caption)}"><table><caption>${markup(caption)}</caption><thead><tr>${head.join("")}</tr></thead><tbody>${lines.join("\n")}</tbody></table></div>`
}

/** Makes an HTML paragraph of a plain text. */
export const paragraph = (text: string): string => `<p>${markup(text)}</p>`

/** Makes a heading of a section, below the title of the page. */
export const heading = (text: string): string => `<h2>${markup(text)}</h2>`
