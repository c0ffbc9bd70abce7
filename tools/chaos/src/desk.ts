/** The agent of the example backend as a workflow, for the processes that serve it and for those who read its runs. */
import { Agent } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Desk } from "@kintsugi/examples/backend/api"
import { served } from "@kintsugi/examples/backend/chats"
import { Schema } from "effect"

/** Each reply has the double usage of the one before, see `usage.ts`. A person may take some minutes. */
const desk = Agent.withBudget(served, { maxTokens: Number.MAX_SAFE_INTEGER, maxDuration: "5 minutes" })

export const durable = Durable.workflow(desk, { name: "desk", input: Desk.input, output: Schema.String, inbox: true })
