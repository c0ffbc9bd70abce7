/**
 * Bundles the scripts of two pages, each with its style: that of a report into `packages/view/src/page/script.ts`, and that of
 * `kintsugi serve` into `packages/view/src/serve/page/script.ts`. The files are committed: users of the package need no bundler.
 *
 *   npm run view
 */
import { createHash } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { build } from "esbuild"
import { style } from "../packages/view/src/browser/PageStyle.ts"
import { style as serveStyle } from "../packages/view/src/serve/browser/PageStyle.ts"
import { root } from "./files.ts"

/** The generated file of the report, from the root of the repository. */
export const path = "packages/view/src/page/script.ts"

/** The generated file of `kintsugi serve`, from the root of the repository. */
export const servePath = "packages/view/src/serve/page/script.ts"

const hash = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`

/** As it stands in an element: nothing in it may end that. */
const embedded = (text: string): string => text.trim().replaceAll("</", "<\\/")

/** A page: what its file is for, its sources, its style, and the beginning of the names in its file. */
interface Page {
  readonly of: string
  readonly entry: string
  readonly style: string
  readonly name: string
}

const renderPage = async ({ entry, name, of, style }: Page): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [join(root, entry, "main.ts")],
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: "es2022",
    minify: true,
    charset: "ascii",
    legalComments: "none"
  })
  const script = embedded(outputFiles[0]?.text ?? "")
  const css = style.replaceAll("\n", "")
  const folder = entry.split("/src/")[1]
  return [
    `/** Written by \`npm run view\`: the script and the style of the page of ${of}, made of the sources in \`${folder}\`. */`,
    `export const ${name}Script: string = ${JSON.stringify(script)}`,
    `export const ${name}Style: string = ${JSON.stringify(css)}`,
    "/** The hashes of the script and the style, by which the page allows the browser to use them. */",
    `export const ${name}Hashes = ${JSON.stringify({ script: hash(script), style: hash(css) })} as const`,
    ""
  ].join("\n")
}

/** What the file of the report has to hold. */
export const render = (): Promise<string> =>
  renderPage({ of: "a report", entry: "packages/view/src/browser", style, name: "view" })

/** What the file of `kintsugi serve` has to hold. */
export const renderServe = (): Promise<string> =>
  renderPage({ of: "`kintsugi serve`", entry: "packages/view/src/serve/browser", style: serveStyle, name: "serve" })

if (import.meta.main) {
  writeFileSync(join(root, path), await render())
  writeFileSync(join(root, servePath), await renderServe())
}
