using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.SecureChannel;

/// <summary>
/// Large byte strings in responses are sent from where they lie, between bytes of the message's own, in chunks of any size.
/// </summary>
public sealed class LentPartTests
{
    [Theory]
    [InlineData(65_535, 65_536)]
    [InlineData(65_536, 100)]
    [InlineData(100, 200_000)]
    [InlineData(131_000, 70_000)]
    [InlineData(1_000_000, 1_000_000)]
    public async Task A_response_with_large_byte_strings_arrives_as_it_is(int first, int second)
    {
        (byte[] a, byte[] b) = (Bytes(first), Bytes(second));
        await using TestServer server = await TestServer.StartAsync(space =>
        {
            space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "number", 7);
            space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 2), "first", (ByteString)a);
            space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 3), "second", (ByteString)b);
        });
        await using OpcUaClient client = await server.ConnectAsync();
        NodeId[] nodes = [new NodeId(2, 1), new NodeId(2, 2), new NodeId(2, 1), new NodeId(2, 3), new NodeId(2, 1)];

        // Several at a time, so that buffers come back and are used again.
        Task<DataValue[]>[] reads = [.. Enumerable.Range(0, 5).Select(_ => client.ReadAsync(nodes).AsTask())];

        foreach (Task<DataValue[]> read in reads)
        {
            DataValue[] values = await read;
            Assert.All([values[0], values[2], values[4]], static value => Assert.Equal(7, value.Value.Get<int>()));
            Assert.True(values[1].Value.Get<ByteString>().Span.SequenceEqual(a));
            Assert.True(values[3].Value.Get<ByteString>().Span.SequenceEqual(b));
        }
    }

    private static byte[] Bytes(int count)
    {
        byte[] bytes = new byte[count];
        new Random(count).NextBytes(bytes);
        return bytes;
    }
}
