// The real binary: hew serve in a home and a project of its own, against the scripted model.
export class Real {
  constructor(bin) {
    this.bin = bin
  }
  async close() {}
}
