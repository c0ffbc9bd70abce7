/** Makes each named function of a source record that it was entered. */
import { type Node, nodeIn, parse, textIn, walk } from "../syntax.ts"

/** What the functions call: it gets the file and the name of the function. */
export const RECORD = "kintsugiEntered"

const around = new Set(["ParenthesizedExpression", "TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"])

/** The function that a name is given to; none where the name is given to anything else. */
const functionIn = (node: Node | undefined): Node | undefined => {
  let inner = node
  while (inner !== undefined && around.has(inner.type)) inner = nodeIn(inner, "expression")
  return inner?.type === "ArrowFunctionExpression" || inner?.type === "FunctionExpression" ? inner : undefined
}

/** Where each kind of node that names a function holds the name and the function. */
const naming: Readonly<Record<string, readonly [name: string, value: string]>> = {
  VariableDeclarator: ["id", "init"],
  AssignmentExpression: ["left", "right"],
  AssignmentPattern: ["left", "right"],
  MethodDefinition: ["key", "value"],
  PropertyDefinition: ["key", "value"],
  Property: ["key", "value"]
}

/** A name as V8 says it: a private one with its `#`. */
const nameOf = (node: Node | undefined): string => {
  const name = textIn(node, "name") ?? textIn(node, "value") ?? ""
  return node?.type === "PrivateIdentifier" ? `#${name}` : name
}

/** The named functions of a tree, each with its name: that of the class for its constructor. */
const namedIn = (tree: Node): ReadonlyArray<readonly [name: string, value: Node]> => {
  const found = new Map<Node, string>()
  for (const node of walk(tree)) {
    if (node.type === "ClassDeclaration" || node.type === "ClassExpression") {
      for (const member of walk(nodeIn(node, "body") ?? node)) {
        const value = member["kind"] === "constructor" ? functionIn(nodeIn(member, "value")) : undefined
        // a class within this class comes later, and names its own
        if (value !== undefined) found.set(value, nameOf(nodeIn(node, "id")))
      }
    }
    if ((node.type === "FunctionDeclaration" || node.type === "FunctionExpression") && nodeIn(node, "id") !== undefined)
      found.set(node, nameOf(nodeIn(node, "id")))
    const [name = "", field = ""] = naming[node.type] ?? []
    const value = functionIn(nodeIn(node, field))
    if (value !== undefined && node["kind"] !== "constructor" && !found.has(value))
      found.set(value, nameOf(nodeIn(node, name)))
  }
  return [...found].flatMap(([value, name]) => (name === "" ? [] : [[name, value]]))
}

/** A source that records, and the names of its functions. */
export interface Recording {
  readonly text: string
  readonly names: ReadonlySet<string>
}

/** The source with a call of `RECORD` at the beginning of each named function. Its lines stay. */
export const recording = (file: string, text: string): Recording => {
  const named = namedIn(parse(text))
  const inserted = named.flatMap(([name, value]): ReadonlyArray<readonly [at: number, text: string]> => {
    const call = `${RECORD}(${JSON.stringify(file)},${JSON.stringify(name)})`
    const body = nodeIn(value, "body")
    // an overload has none
    if (body === undefined || body.type === "TSEmptyBodyFunctionExpression") return []
    if (body.type === "BlockStatement" || body.type === "FunctionBody") return [[body.start + 1, `${call};`]]
    return [
      [body.start, `(${call},`],
      [body.end, ")"]
    ]
  })
  let at = 0
  const parts: Array<string> = []
  for (const [offset, addition] of inserted.toSorted(([one], [other]) => one - other)) {
    parts.push(text.slice(at, offset), addition)
    at = offset
  }
  return { text: [...parts, text.slice(at)].join(""), names: new Set(named.map(([name]) => name)) }
}
