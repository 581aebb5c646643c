using FastPort.OpcUa.SecureChannel;
using Xunit;

namespace FastPort.OpcUa.Tests.SecureChannel;

public sealed class ChannelTokensTests
{
    private readonly ChannelTokens _tokens = new();
    private readonly List<uint> _disposed = [];

    [Fact]
    public void Tokens_before_the_one_that_is_used_go_and_later_ones_stay()
    {
        Add(1, 2, 3);

        _tokens.DropBefore(_tokens.Find(2)!);

        Assert.Equal([1u], _disposed);
        Assert.Null(_tokens.Find(1));
        Assert.Equal((2u, 3u, 3u), (_tokens.Oldest!.Id, _tokens.Second!.Id, _tokens.Newest!.Id));
        _tokens.Clear();
        Assert.Equal([1u, 2, 3], _disposed);
        Assert.Null(_tokens.Newest);
    }

    [Fact]
    public void Of_many_that_are_not_used_the_one_in_use_and_the_last_ones_stay()
    {
        Add(1, 2, 3, 4, 5, 6);

        Assert.Equal([2u, 3], _disposed);
        Assert.Equal((1u, 4u, 6u), (_tokens.Oldest!.Id, _tokens.Second!.Id, _tokens.Newest!.Id));
    }

    private void Add(params uint[] ids)
    {
        foreach (uint id in ids)
        {
            _tokens.Add(new ChannelToken(id, new Keys(() => _disposed.Add(id)), TimeSpan.Zero, TimeSpan.FromMinutes(1)));
        }
    }

    private sealed class Keys(Action disposed) : ChunkSecurity
    {
        public override int MaxBodyBytes(int chunkBytes, int clearBytes) => throw new NotSupportedException();

        public override int ChunkBytes(int clearBytes, int bodyBytes) => throw new NotSupportedException();

        public override void Protect(
            ReadOnlySpan<byte> clear, uint sequenceNumber, uint requestId, ReadOnlySpan<byte> body, ArraySegment<byte> segment) =>
            throw new NotSupportedException();

        public override bool TryUnprotect(
            ReadOnlySpan<byte> chunk, int clearBytes, MessageBuffer scratch, out ReadOnlySpan<byte> content) =>
            throw new NotSupportedException();

        public override void Dispose()
        {
            disposed();
            base.Dispose();
        }
    }
}
