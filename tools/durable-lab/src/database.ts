/** The database of durable runs, in a process of its own, and the processes that are killed beside it. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { installIn } from "../../../scripts/sdk.ts"

/** The package that has the database and its clients: a plain installation leaves them out. */
export const folder = "tools/durable-lab"

/** What is needed besides this repository is there, installed now if need be. */
export const isReady = (): boolean => installIn(folder)

export interface Database {
  readonly port: string
  readonly stop: () => void
}

/** Starts an empty database in memory. */
export const startDatabase = async (): Promise<Database> => {
  const database = spawn(process.execPath, [join(root, folder, "src/processes/database.ts")], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const port = await new Promise<string>((resolve, reject) => {
    database.stdout.once("data", (chunk) => resolve(String(chunk).trim()))
    database.once("close", (code) => reject(new Error(`the database ended with ${code}`)))
  })
  return { port, stop: () => database.kill() }
}
