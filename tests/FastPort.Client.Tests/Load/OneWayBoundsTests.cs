using FastPort.Client.Load;
using Xunit;

namespace FastPort.Client.Tests.Load;

public sealed class OneWayBoundsTests
{
    [Theory]
    [InlineData(0, 1, 10_922)]
    [InlineData(64, 1, 1_724)]
    [InlineData(64, 10_000, 215)]
    [InlineData(32_756, 1, 4)]
    [InlineData(1_000_000, 1, 1)]
    public void A_batch_is_some_128_KiB_or_what_a_queue_holds_or_one_message(int size, int connections, int messages) =>
        Assert.Equal(messages, OneWayBounds.BatchMessages(size, connections));

    [Theory]
    [InlineData(1, 256 * 1024)]
    [InlineData(32, 256 * 1024)]
    [InlineData(1024, 64 * 1024)]
    [InlineData(10_000, 16 * 1024)]
    [InlineData(100_000, 16 * 1024)]
    public void Send_queues_shrink_with_the_number_of_connections(int connections, int bytes) =>
        Assert.Equal(bytes, OneWayBounds.QueueBytes(connections));

    [Theory]
    [InlineData(64, 1, 1, 2 * 1024 * 1024 / 76)]
    [InlineData(64, 1, 16, 2 * 1024 * 1024 / 76 / 16)]
    [InlineData(64, 10_000, 1, 16 * 1024 / 76)]
    [InlineData(64, 10_000, 65_536, 1)]
    [InlineData(1_000_000, 32, 16, 1)]
    public void What_streams_ask_for_is_bounded_over_all_of_them(int size, int connections, int inFlight, int messages) =>
        Assert.Equal(messages, OneWayBounds.StreamPiece(size, connections, inFlight));
}
