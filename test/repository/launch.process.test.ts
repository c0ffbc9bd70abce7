import { spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { createServer } from "node:http"
import { homedir, tmpdir } from "node:os"
import { dirname, join, sep } from "node:path"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { root } from "../../scripts/files.ts"
import { packageManager } from "../../scripts/tools.ts"

const folder = mkdtempSync(join(realpathSync(tmpdir()), "kintsugi-launch-"))
const program = join(folder, "program.ts")

writeFileSync(
  program,
  `const input: Array<string> = []
for await (const chunk of process.stdin) input.push(String(chunk))
process.stdout.write(JSON.stringify({ version: process.version, parameters: process.argv.slice(2), input }))
process.exitCode = 7
`
)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const launch = (parameters: ReadonlyArray<string>, input = "") => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [join(root, "scripts/launch.mjs"), ...parameters], {
    encoding: "utf8",
    input
  })
  return { status, stderr, stdout }
}

// The first start may have to install; what it says then is of no interest here.
beforeAll(() => void launch([program]), 240_000)

describe("scripts/launch.mjs", () => {
  it("passes arguments and input on, and the exit code back, and adds no word of its own", () => {
    const { status, stderr, stdout } = launch([program, "-", "two words", '{"a": 1,}'], "typed")
    expect({ status, stderr }).toEqual({ status: 7, stderr: "" })
    expect(JSON.parse(stdout)).toEqual({
      version: expect.stringMatching(/^v24\./),
      parameters: ["-", "two words", '{"a": 1,}'],
      input: ["typed"]
    })
  })

  it("reports what is wrong with its own arguments", () => {
    expect(launch(["nowhere.ts"])).toEqual({ status: 1, stderr: "nowhere.ts does not exist\n", stdout: "" })
    expect(launch([])).toMatchObject({ status: 2, stdout: "", stderr: expect.stringMatching(/^usage: /) })
  })
})

/** `test/examples/commandLines.process.test.ts` tries these. */
const elsewhere = new Set(["demo", "demo:durable", "backend", "chat", "eval", "providers:live"])
const scripts: Readonly<Record<string, string>> = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts
const launched = Object.entries(scripts).flatMap(([name, command]) => {
  const [, file] = /^node scripts\/launch[.]mjs (\S+)/.exec(command) ?? []
  return file === undefined || elsewhere.has(name) ? [] : [[name, file] as const]
})

it.each(launched)("npm run %s explains itself, and does nothing else", { timeout: 60_000 }, (name, file) => {
  const { status, stderr, stdout } = launch([file, "--help"])
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
  expect(stdout).toMatch(name === "test" ? /npm test/ : new RegExp(`npm run ${name}\\b`))
})

/** The variables that say where npm, pnpm and other tools write. */
const variables = ["npm_config_cache", "npm_config_store_dir", "XDG_CACHE_HOME", "XDG_STATE_HOME"] as const

type Environment = Readonly<Record<string, string | undefined>>

/** The environment of these tests without what decides where the tools write. */
const environment = (more: Environment): NodeJS.ProcessEnv => {
  const isNeutral = (name: string) => !/^npm_config_(cache|store_dir|loglevel)$|^XDG_|^PNPM_HOME$/i.test(name)
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => isNeutral(name))), ...more }
}

/** The lock file of a checkout whose only package comes from an archive; a heavy tool needs it too. */
const lockFile = (archive: Buffer) => `lockfileVersion: '9.0'
importers:
  .:
    dependencies:
      archived:
        specifier: file:./archived.tgz
        version: file:archived.tgz
      node:
        specifier: link:./pinned
        version: link:pinned
  tools/system:
    dependencies:
      archived:
        specifier: file:../../archived.tgz
        version: file:archived.tgz
packages:
  archived@file:archived.tgz:
    resolution: {integrity: sha512-${createHash("sha512").update(archive).digest("base64")}, tarball: file:archived.tgz}
    version: 1.0.0
snapshots:
  archived@file:archived.tgz: {}
`

/** A checkout in which nothing is installed yet. Its dependencies are this Node and a package in an archive. */
const makeCheckout = (name: string): string => {
  const checkout = join(folder, name, "it's $& ключ-金継ぎ/kintsugi")
  for (const path of ["scripts", "packages", "tools/system", "bench", "pinned/bin", "package"]) {
    mkdirSync(join(checkout, path), { recursive: true })
  }
  const write = (path: string, content: string) => writeFileSync(join(checkout, path), content)
  cpSync(join(root, "scripts/launch.mjs"), join(checkout, "scripts/launch.mjs"))
  symlinkSync(process.execPath, join(checkout, "pinned/bin/node"))
  write("pinned/package.json", JSON.stringify({ name: "node", version: process.versions.node }))
  write("package/package.json", JSON.stringify({ name: "archived", version: "1.0.0" }))
  const said = `${JSON.stringify(variables)}.map((name) => process.env[name] ?? "unset")`
  write("package/program.mjs", `process.stdout.write(JSON.stringify(${said}))`)
  expect(spawnSync("tar", ["-czf", "archived.tgz", "package"], { cwd: checkout }).status).toBe(0)
  const dependencies = { archived: "file:./archived.tgz", node: "link:./pinned" }
  write("package.json", JSON.stringify({ private: true, packageManager: packageManager(), dependencies }))
  write("pnpm-workspace.yaml", "packages: [tools/*]\n")
  write("tools/system/package.json", JSON.stringify({ dependencies: { archived: "file:../../archived.tgz" } }))
  write("pnpm-lock.yaml", lockFile(readFileSync(join(checkout, "archived.tgz"))))
  return checkout
}

/** Starts the program of the archive, which is there once the checkout is installed, or what else the launcher is asked for. */
const start = async (checkout: string, env: Environment, ...asked: ReadonlyArray<string>) => {
  const parameters = asked.length > 0 ? asked : ["node_modules/archived/program.mjs"]
  const child = spawn(process.execPath, [join(checkout, "scripts/launch.mjs"), ...parameters], {
    cwd: folder,
    env: environment(env)
  })
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
  return { status, stderr, stdout }
}

/** Gives npx the package manager of this checkout, and a registry that knows its version, so that it needs no network. */
const offline = async (cache: string): Promise<Environment> => {
  const programs = join(process.env["npm_config_cache"] || join(homedir(), ".npm"), "_npx")
  for (const name of existsSync(programs) ? readdirSync(programs) : []) {
    const path = join(programs, name, "node_modules/pnpm/package.json")
    const manifest = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {}
    if (`pnpm@${manifest.version}` !== packageManager().split("+")[0]) continue
    cpSync(join(programs, name), join(cache, "npm/_npx", name), { recursive: true, verbatimSymlinks: true })
    const { bin, version } = manifest
    const versions = { [version]: { name: "pnpm", version, bin, dist: { tarball: "http://127.0.0.1/pnpm.tgz" } } }
    const server = createServer((_, response) => response.end(JSON.stringify({ name: "pnpm", versions })))
    onTestFinished(() => void server.close())
    await once(server.listen(0, "127.0.0.1"), "listening")
    const address = server.address()
    return { npm_config_registry: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/` }
  }
  return {}
}

/** What a plain installation leaves out. */
const heavy = ["tools/mutation", "tools/system"]

/** Read-only for all users: a file stands where the folder above it would be. */
const blocked = join(folder, "blocked/home")
writeFileSync(dirname(blocked), "")

/** Read-only by its mode bits, which root may ignore. */
const locked = join(folder, "locked")
mkdirSync(locked)
chmodSync(locked, 0o555)

const readOnly = [
  ["a file is in its place", blocked],
  ...(process.getuid?.() === 0 ? [] : [["its mode bits forbid to write", locked] as const])
] as const

const writable = join(folder, "open")
mkdirSync(writable)

describe("the installation, in a home folder", () => {
  /** A stand-in of `npx`: it notes its arguments and variables, and installs this Node and the package. */
  const tools = join(folder, "tools")
  mkdirSync(tools)
  writeFileSync(
    join(tools, "npx"),
    `#!/bin/sh
printf '%s\\n' "$*" ${variables.map((name) => `"\${${name}-unset}"`).join(" ")} > told
mkdir -p node_modules/node/bin
ln -s "$PINNED" node_modules/node/bin/node
ln -s ../package node_modules/archived
`,
    { mode: 0o755 }
  )

  let checkouts = 0

  /** What npx and the program read of where to write. */
  const installed = async (env: Environment) => {
    const checkout = makeCheckout(`told-${checkouts++}`)
    const PATH = `${tools}:${process.env["PATH"]}`
    const { status, stderr, stdout } = await start(checkout, { ...env, PATH, PINNED: process.execPath })
    expect(status, stderr).toBe(0)
    const [asked, ...folders] = readFileSync(join(checkout, "told"), "utf8").trimEnd().split("\n")
    expect(asked).toBe(
      `--yes ${packageManager()} install --frozen-lockfile ${heavy.map((tool) => `--filter=!./${tool}`).join(" ")}`
    )
    expect(JSON.parse(stdout)).toEqual(folders)
    return { folders, cache: (name: string) => join(checkout, ".cache", name) }
  }

  it("that is writable, writes where it always does, and leaves nothing else there", async () => {
    expect((await installed({ HOME: writable })).folders).toEqual(["unset", "unset", "unset", "unset"])
    expect(readdirSync(writable)).toEqual([])
    const set = { npm_config_cache: join(writable, "npm"), npm_config_store_dir: join(writable, "store") }
    expect((await installed({ HOME: writable, ...set })).folders).toEqual([...Object.values(set), "unset", "unset"])
  })

  it.each(readOnly)("that is read-only, writes to .cache of the checkout: %s", async (_, home) => {
    // `npm run` sets the variable of npm's cache to the default.
    for (const more of [{}, { npm_config_cache: join(home, ".npm") }, { PNPM_HOME: join(home, "pnpm") }]) {
      const { cache, folders } = await installed({ HOME: home, ...more })
      expect(folders).toEqual(["npm", "pnpm-store", "xdg-cache", "xdg-state"].map(cache))
    }
  })

  it("that is read-only, writes to the folders of the environment that are writable", async () => {
    const set = {
      npm_config_cache: join(writable, "npm"),
      XDG_STATE_HOME: join(writable, "state"),
      XDG_DATA_HOME: writable
    }
    const { cache, folders } = await installed({ HOME: blocked, ...set })
    expect(folders).toEqual([set.npm_config_cache, "unset", cache("xdg-cache"), set.XDG_STATE_HOME])
  })

  it(
    "that is read-only, writes nothing outside of the checkout, and leaves heavy tools out",
    { timeout: 120_000 },
    async () => {
      const checkout = makeCheckout("alone")
      const cache = join(checkout, ".cache")
      // Where it cannot write to the home folder, pnpm chooses a folder above the checkout.
      const parents = Array.from({ length: checkout.split(sep).length - 1 }, (_, index) =>
        join(checkout, "../".repeat(index + 1))
      )
      const around = () => [
        parents.slice(0, 3).map((path) => readdirSync(path)),
        parents.filter((path) => existsSync(join(path, ".pnpm-store")))
      ]
      const before = around()
      const env = { HOME: blocked, ...(await offline(cache)) }
      const { status, stderr, stdout } = await start(checkout, env)
      expect(status, stderr).toBe(0)
      expect(JSON.parse(stdout)).toEqual(
        ["npm", "pnpm-store", "xdg-cache", "xdg-state"].map((name) => join(cache, name))
      )
      expect(existsSync(join(checkout, "node_modules/archived/package.json"))).toBe(true)
      expect(readdirSync(join(cache, "pnpm-store"))).toEqual(["v10"])
      expect(around()).toEqual(before)
      // the heavy tools come when they are asked for, and the rest stays
      const ofTool = join(checkout, "tools/system/node_modules/archived/package.json")
      expect(existsSync(ofTool)).toBe(false)
      const asked = await start(checkout, env, "--install", "tools/system")
      expect(asked.status, asked.stderr).toBe(0)
      expect(existsSync(ofTool)).toBe(true)
      expect((await start(checkout, env)).stderr).toBe("")
    }
  )
})
