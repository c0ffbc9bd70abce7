/**
 * Builds the site: `docs/` and the README, with the reference of all public modules from their doc comments. Installs what that needs,
 * which nothing else does: `site` is a package of its own with a lock file of its own, outside of the workspace.
 *
 *   npm run site                      into `site/dist`; a link that leads nowhere is an error
 *   npm run site -- --serve           shows it on the loopback interface, on port 4173 or that of --serve=…
 *   npm run site -- --base=/kintsugi/ for a site that is not at the root of its host
 */
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { root } from "./files.ts"
import { installIn } from "./sdk.ts"
import { faults } from "./site/links.ts"
import { pictures, referenceOf, references, settings, staged } from "./site/pages.ts"
import { finish } from "./site/reference.ts"
import { serve } from "./site/serve.ts"

const site = join(root, "site")
const pages = join(site, "pages")
const dist = join(site, "dist")

const option = (name: string): string | undefined =>
  process.argv.find((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3)
const base = option("base") ?? "/"

const say = (line: string) => process.stdout.write(`${line}\n`)

/** Runs a program of the site's own package. */
const run = (script: string, ...parameters: ReadonlyArray<string>): void => {
  const { status } = spawnSync(process.execPath, [join(site, "node_modules", script), ...parameters], {
    cwd: site,
    stdio: "inherit"
  })
  if (status !== 0) throw new Error(`${script} ended with exit code ${status}`)
}

/** Leaves a value where the programs of the site look for it. */
const write = (name: string, value: unknown): void => {
  mkdirSync(join(root, ".cache", "site"), { recursive: true })
  writeFileSync(join(root, ".cache", "site", `${name}.json`), JSON.stringify(value))
}

const build = (): void => {
  if (!installIn("site")) throw new Error("could not install what the site is built with: see the messages above")
  rmSync(pages, { recursive: true, force: true })
  const modules = references().map(({ path, title }) => [join(root, path), referenceOf(title)] as const)
  write("modules", Object.fromEntries(modules))
  run("typescript/bin/tsc", "-p", ".")
  run("typedoc/bin/typedoc", ...modules.flatMap(([path]) => ["--entryPoints", path]), "--out", join(pages, "api"))
  finish(join(pages, "api"))
  for (const [path, text] of staged()) {
    mkdirSync(dirname(join(pages, path)), { recursive: true })
    writeFileSync(join(pages, path), text)
  }
  for (const { from, to } of pictures()) cpSync(join(root, from), join(pages, to))
  write("settings", settings())
  run("vitepress/bin/vitepress.js", "build", "--base", base)
  const found = faults(dist, base)
  for (const fault of found) say(fault)
  if (found.length > 0) throw new Error(`${found.length} links of the site lead nowhere`)
}

build()
const port = process.argv.includes("--serve") ? 4173 : option("serve")
if (port === undefined) say(`the site is in ${dist}`)
else {
  await serve(dist, base, Number(port))
  say(`the site is at http://127.0.0.1:${port}${base}`)
}
