/** Bundles the scenario for browsers. */
import { buildSync } from "esbuild"

const page =
  '<!doctype html><meta charset="utf-8"><title>…</title><link rel="icon" href="data:,"><script type="module" src="/bundle.js"></script>'

export type Files = ReadonlyMap<string, { readonly type: string; readonly body: string }>

/** The page and its script. A module of Node in it is an error. */
export const bundle = (folder: string): Files => {
  const { outputFiles } = buildSync({
    absWorkingDir: folder,
    entryPoints: ["browser.ts"],
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2024",
    minify: true,
    write: false
  })
  return new Map([
    ["/", { type: "text/html", body: page }],
    ["/bundle.js", { type: "text/javascript", body: outputFiles[0]?.text ?? "" }]
  ])
}
