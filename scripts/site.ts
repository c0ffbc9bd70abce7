/**
 * Builds the site: `docs/` and the README, with the reference of all public modules from their doc comments. Installs what that needs,
 * which nothing else does: `site` is a package of its own with a lock file of its own, outside of the workspace.
 *
 *   npm run site                      into `site/dist`; a link that leads nowhere is an error
 *   npm run site -- --serve           shows it on the loopback interface, on port 4173 or that of --serve=…
 *   npm run site -- --base=/kintsugi/ for a site that is not at the root of its host
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { root } from "./files.ts"
import { markBuilt } from "./site/built.ts"
import { faults } from "./site/links.ts"
import { moved, pictures, redirect, settings, staged } from "./site/pages.ts"
import { run, site, typedoc, write } from "./site/programs.ts"
import { finish } from "./site/reference.ts"
import { serve } from "./site/serve.ts"

const pages = join(site, "pages")
const dist = join(site, "dist")

const option = (name: string): string | undefined =>
  process.argv.find((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3)
const base = option("base") ?? "/"

const say = (line: string) => process.stdout.write(`${line}\n`)

const build = (): void => {
  rmSync(pages, { recursive: true, force: true })
  typedoc("--out", join(pages, "api"))
  run("typescript/bin/tsc", "-p", ".")
  finish(join(pages, "api"))
  for (const [path, text] of staged()) {
    mkdirSync(dirname(join(pages, path)), { recursive: true })
    writeFileSync(join(pages, path), text)
  }
  for (const { from, to } of pictures()) cpSync(join(root, from), join(pages, to))
  write("settings", settings())
  run("vitepress/bin/vitepress.js", "build", "--base", base)
  for (const [from, to] of Object.entries(moved)) writeFileSync(join(dist, `${from}.html`), redirect(base, to))
  const found = faults(dist, base)
  for (const fault of found) say(fault)
  if (found.length > 0) throw new Error(`${found.length} links of the site lead nowhere`)
  markBuilt(base)
}

build()
const port = process.argv.includes("--serve") ? 4173 : option("serve")
if (port === undefined) say(`the site is in ${dist}`)
else {
  await serve(dist, base, Number(port))
  say(`the site is at http://127.0.0.1:${port}${base}`)
}
