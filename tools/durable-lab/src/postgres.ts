/** A PostgreSQL that is thrown away: its data are in a temporary folder, and the process that started it stops it. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { apt, onPath, type Tool } from "../../../scripts/provide.ts"

/** Debian keeps the server where no search path leads. */
const find = (): string | undefined => {
  const versions = "/usr/lib/postgresql"
  const own = existsSync(versions)
    ? readdirSync(versions)
        .toSorted((one, other) => Number(other) - Number(one))
        .map((version) => join(versions, version, "bin", "postgres"))
    : []
  return own.find((path) => existsSync(path)) ?? onPath("postgres")
}

export const postgres: Tool = { name: "PostgreSQL", find, install: apt("postgresql") }

export interface Postgres {
  readonly port: number
  readonly stop: () => Promise<void>
}

/** Who runs the server: it refuses to be run by root. */
const unprivileged = (): { readonly uid: number; readonly gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string, name: string) => Number(execFileSync("id", [flag, name], { stdio: "pipe" }))
  for (const name of ["postgres", "nobody"]) {
    try {
      return { uid: idOf("-u", name), gid: idOf("-g", name) }
    } catch {
      // there is no such user here
    }
  }
  throw new Error("PostgreSQL does not run as root, and there is no other user")
}

/** A port on which no process listens. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })

/** The line with which the server says that it takes connections. */
const READY = "database system is ready to accept connections"

const ready = (server: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let said = ""
    server.stderr?.on("data", (chunk) => {
      said += String(chunk)
      if (said.includes(READY)) resolve()
      // it goes on talking, without a reader
      said = said.slice(-10_000)
    })
    server.once("error", reject)
    server.once("close", (code) => reject(new Error(`PostgreSQL ended with ${code}:\n${said}`)))
  })

/** What a crash would lose is thrown away in any case. */
const fast = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]

/** Starts an empty database `postgres` of the user `postgres`, without a password, for this machine alone. */
export const startPostgres = async (postgres: string, settings = fast): Promise<Postgres> => {
  const user = unprivileged()
  const folder = mkdtempSync(join(tmpdir(), "kintsugi-postgres-"))
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const options = { cwd: folder, ...user, env: { ...process.env, LC_ALL: "C" } }
  const data = join(folder, "data")
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const args = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"]
    execFileSync(join(dirname(postgres), "initdb"), args, { ...options, stdio: "pipe" })
  } catch (error) {
    remove()
    throw error
  }
  const port = await freePort()
  const all = [...settings, "max_connections=120"].flatMap((one) => ["-c", one])
  const args = ["-D", data, "-h", "127.0.0.1", "-p", `${port}`, "-k", "", ...all]
  const server = spawn(postgres, args, { ...options, stdio: ["ignore", "ignore", "pipe"] })
  const ended = new Promise<void>((resolve) => server.once("close", () => resolve()))
  // immediately, where this process ends before it has stopped it
  const last = () => {
    server.kill("SIGQUIT")
    remove()
  }
  process.once("exit", last)
  const stop = async () => {
    process.off("exit", last)
    server.kill("SIGINT")
    await ended
    remove()
  }
  try {
    await ready(server)
  } catch (error) {
    await stop()
    throw error
  }
  return { port, stop }
}
