// Thrift's own library for Node over HTTPS in TJSON: what its code generator would write, for two methods.
"use strict";
const [folder, port, path, authorization, database, table] = process.argv.slice(2);
const thrift = require(folder + "/thrift");
const { Thrift } = thrift;

class Strings {
  constructor(values) {
    this.values = values;
  }
  write(output) {
    output.writeStructBegin("args");
    this.values.forEach(([id, type, value]) => {
      output.writeFieldBegin("f", type, id);
      type === Thrift.Type.STRING ? output.writeString(value) : output.writeI16(value);
      output.writeFieldEnd();
    });
    output.writeFieldStop();
    output.writeStructEnd();
  }
}

class Client {
  constructor(output, Protocol) {
    this.output = output;
    this.pClass = Protocol;
    this._seqid = 0;
    this._reqs = {};
  }
  seqid() {
    return this._seqid;
  }
  new_seqid() {
    return ++this._seqid;
  }
  send(name, values, callback) {
    this._reqs[this.new_seqid()] = callback;
    const output = new this.pClass(this.output);
    output.writeMessageBegin(name, Thrift.MessageType.CALL, this.seqid());
    new Strings(values).write(output);
    output.writeMessageEnd();
    return this.output.flush();
  }
  receive(input, type, seqid) {
    const callback = this._reqs[seqid];
    if (type === Thrift.MessageType.EXCEPTION) {
      const error = new Thrift.TApplicationException();
      error.read(input);
      input.readMessageEnd();
      return callback(error);
    }
    input.readStructBegin();
    const names = [];
    for (;;) {
      const field = input.readFieldBegin();
      if (field.ftype === Thrift.Type.STOP) break;
      const list = input.readListBegin();
      for (let at = 0; at < list.size; at++) names.push(input.readString());
      input.readListEnd();
      input.readFieldEnd();
    }
    input.readStructEnd();
    input.readMessageEnd();
    return callback(null, names);
  }
}
for (const name of ["get_all_databases", "get_partition_names", "drop_database"]) {
  Client.prototype["recv_" + name] = Client.prototype.receive;
}

const connection = thrift.createHttpConnection("127.0.0.1", Number(port), {
  transport: thrift.TBufferedTransport,
  protocol: thrift.TJSONProtocol,
  path,
  https: true,
  headers: { Authorization: authorization, "Content-Type": "application/vnd.apache.thrift.json" },
  nodeOptions: { rejectUnauthorized: false },
});
connection.on("error", (error) => {
  console.error(String(error));
  process.exit(1);
});
const client = thrift.createHttpClient({ Client }, connection);
const { STRING, I16 } = Thrift.Type;
client.send("get_all_databases", [], (error, databases) => {
  if (error) throw error;
  client.send("get_partition_names", [[1, STRING, database], [2, STRING, table], [3, I16, 10]], (error, partitions) => {
    if (error) throw error;
    client.send("drop_database", [[1, STRING, database]], (error) => {
      console.log(JSON.stringify({ databases, partitions, refused: String(error) }));
    });
  });
});
