/**
 * Makes a project of its own from `packages/examples/starter`: its files, the packages as a release would pack them, and an installation.
 *
 *   npm run starter -- ../my-agent
 */
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { root } from "./files.ts"
import { packInto } from "./pack.ts"

const windows = process.platform === "win32"

const help = `npm run starter -- <folder>

Makes a new project in an empty folder, or in one that does not exist yet: a small agent in six steps, which needs no key.
The packages are packed from this clone, because none is published yet.`

/** A step of the page Getting started: its program, and what it prints. */
interface Step {
  readonly code: string
  readonly output?: string
}

/** The steps of the page. */
export const stepsOf = (page: string): ReadonlyArray<Step> =>
  [...page.matchAll(/^```ts[^\n]*\n([^]*?)^```\n(?:\n```text\n([^]*?)^```$)?/gm)].map(([, code = "", output]) =>
    output === undefined ? { code } : { code, output }
  )

/** Makes the project; `say` gets what a reader does next. */
export const make = (folder: string, say: (line: string) => void): void => {
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`)
  const tarballs = join(folder, "packages")
  mkdirSync(tarballs, { recursive: true })
  const packed = packInto(tarballs)
  const starter = join(root, "packages/examples/starter")
  for (const path of ["README.md", "src", "tsconfig.json"])
    cpSync(join(starter, path), join(folder, path), { recursive: true })
  const manifest = JSON.parse(readFileSync(join(starter, "package.json"), "utf8"))
  for (const [name, file] of packed)
    if (name in manifest.dependencies) manifest.dependencies[name] = `file:packages/${file}`
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
  const { status } = spawnSync(
    windows ? "npm.cmd" : "npm",
    ["install", "--no-audit", "--no-fund", "--loglevel=error"],
    {
      cwd: folder,
      shell: windows,
      stdio: ["ignore", "ignore", "inherit"]
    }
  )
  if (status !== 0) throw new Error(`npm install in ${folder} ended with exit code ${status}`)
  say(
    `A project is in ${folder}. Next:\n\n  cd ${folder}\n  npm run tool               # the first of six steps\n  npx node src/mine.ts       # a file of your own: the project has Node 24\n`
  )
}

if (import.meta.main) {
  const [folder, ...more] = process.argv.slice(2)
  if (folder === undefined || more.length > 0 || folder.startsWith("-")) {
    const isHelp = folder === "--help"
    process[isHelp ? "stdout" : "stderr"].write(`${help}\n`)
    process.exitCode = isHelp ? 0 : 2
  } else {
    try {
      make(resolve(process.env["INIT_CWD"] ?? process.cwd(), folder), (line) => process.stdout.write(`${line}\n`))
    } catch (error) {
      process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`)
      process.exitCode = 1
    }
  }
}
