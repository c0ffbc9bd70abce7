/** The programs that the site brings: `site` is a package of its own with a lock file of its own, outside of the workspace. */
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../files.ts"
import { installIn } from "../sdk.ts"
import { referenceOf, references } from "./pages.ts"

export const site = join(root, "site")

/** Runs a program of the site, installed now if need be. */
export const run = (script: string, ...parameters: ReadonlyArray<string>): void => {
  if (!installIn("site")) throw new Error("could not install the programs of the site: see the messages above")
  const { status } = spawnSync(process.execPath, [join(site, "node_modules", script), ...parameters], {
    cwd: site,
    stdio: "inherit"
  })
  if (status !== 0) throw new Error(`${script} ended with exit code ${status}`)
}

/** Leaves a value where the programs of the site look for it. */
export const write = (name: string, value: unknown): void => {
  mkdirSync(join(root, ".cache", "site"), { recursive: true })
  writeFileSync(join(root, ".cache", "site", `${name}.json`), JSON.stringify(value))
}

/** Runs TypeDoc over the public modules, as `site/typedoc.json` has it. */
export const typedoc = (...parameters: ReadonlyArray<string>): void => {
  const modules = references().map(({ path, title }) => [join(root, path), referenceOf(title)] as const)
  write("modules", Object.fromEntries(modules))
  run("typedoc/bin/typedoc", ...modules.flatMap(([path]) => ["--entryPoints", path]), ...parameters)
}
