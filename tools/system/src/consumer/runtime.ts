/** Plays the scenario in the runtime that runs this file, against the server whose URL it is given. */
import process from "node:process"
import { scenario } from "./scenario.ts"

console.log(JSON.stringify(await scenario(process.argv[2] ?? "")))
