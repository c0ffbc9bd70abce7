/** Plays the scenario in a browser, against the server that gave it the page, and leaves what came of it in the page. */
import { scenario } from "./scenario.ts"

const said = await scenario(location.origin).catch((error: unknown) => [
  { what: "the scenario", isRight: false, said: String(error) }
])
const result = document.createElement("output")
result.textContent = JSON.stringify(said)
document.body.append(result)
