/**
 * Bundles the script of the page of a report, with its style, into `packages/view/src/page/script.ts`. The file is
 * committed: users of the package need no bundler.
 *
 *   npm run view
 */
import { createHash } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { build } from "esbuild"
import { style } from "../packages/view/src/browser/PageStyle.ts"
import { root } from "./files.ts"

/** The generated file, from the root of the repository. */
export const path = "packages/view/src/page/script.ts"

const hash = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`

/** As it stands in an element: nothing in it may end that. */
const embedded = (text: string): string => text.trim().replaceAll("</", "<\\/")

/** What the file has to hold. */
export const render = async (): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [join(root, "packages/view/src/browser/main.ts")],
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
  return [
    "/** Written by `npm run view`: the script and the style of the page of a report, made of the sources in `browser`. */",
    `export const viewScript: string = ${JSON.stringify(script)}`,
    `export const viewStyle: string = ${JSON.stringify(css)}`,
    "/** The hashes of the script and the style, by which the page allows the browser to use them. */",
    `export const viewHashes = ${JSON.stringify({ script: hash(script), style: hash(css) })} as const`,
    ""
  ].join("\n")
}

if (import.meta.main) writeFileSync(join(root, path), await render())
