/** An event of the small document, as far as the scripts of pages read one. */
export class PageEvent {
  readonly type: string
  readonly key: string
  readonly shiftKey: boolean
  readonly ctrlKey: boolean
  readonly metaKey = false
  readonly altKey = false
  readonly button: number
  readonly clientX: number
  readonly pointerId = 1
  target: unknown
  currentTarget: unknown
  defaultPrevented = false
  isStopped = false

  constructor(type: string, { button = 0, clientX = 0, ctrlKey = false, key = "", shiftKey = false } = {}) {
    this.type = type
    this.button = button
    this.clientX = clientX
    this.key = key
    this.shiftKey = shiftKey
    this.ctrlKey = ctrlKey
  }

  preventDefault(): void {
    this.defaultPrevented = true
  }

  stopPropagation(): void {
    this.isStopped = true
  }
}
