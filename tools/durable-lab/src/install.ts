/** Installs the database of durable runs, for the tests that kill processes beside it. */
import { isReady } from "./database.ts"

if (!isReady()) {
  process.stderr.write("could not install the database: see the messages above; the network may be unreachable\n")
  process.exitCode = 1
}
