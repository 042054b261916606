import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What the adapter reads of a socket, and Node does not document. */
type PrivateSocket = Socket & { readonly _handle: { readonly writeQueueSize: number } };

it('a socket of Node tells how much of one large write the system has not taken yet', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[PrivateSocket]>;
  const reader = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  const [socket] = await accepted;
  socket.write(Buffer.alloc(64 * 1024 * 1024));
  const queued = socket._handle.writeQueueSize;
  expect(queued).toBeGreaterThan(0);
  reader.resume();
  await once(socket, 'drain');
  expect(socket._handle.writeQueueSize).toBeLessThan(queued);
  socket.destroy();
  reader.destroy();
  server.close();
});
