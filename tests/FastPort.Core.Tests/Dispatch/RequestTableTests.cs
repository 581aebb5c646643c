using FastPort.Dispatch;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Dispatch;

/// <summary>Requests by correlation, whatever correlations a peer chooses.</summary>
public sealed class RequestTableTests
{
    public static TheoryData<string, uint> Strides => new()
    {
        { "in a row", 1 },
        { "equal in the lower half", 0x1_0000 },
        { "equal in the upper half", 3 },
        { "multiples of a prime that tables like", 1931 },
    };

    [Theory]
    [MemberData(nameof(Strides))]
    public void Finding_one_of_many_looks_at_a_few(string kind, uint stride)
    {
        const int Requests = 5000;
        var table = new RequestTable();
        var requests = new List<RequestContext>();
        for (uint i = 1; i <= Requests; i++)
        {
            requests.Add(Request(i * stride));
            table.Add(requests[^1]);
        }

        Assert.True(table.LongestChain <= 20, $"A chain of requests {kind} has {table.LongestChain}.");
        Assert.All(requests, request => Assert.Same(request, table.Find(request.Correlation)));
        Assert.Null(table.Find(0));
        Assert.Equal(Requests, table.ToList().Count);

        foreach (RequestContext request in requests)
        {
            table.Remove(request);
            Assert.Null(table.Find(request.Correlation));
        }

        Assert.Empty(table.ToList());
    }

    [Fact]
    public void One_way_messages_are_never_found_and_lie_apart_from_each_other()
    {
        var table = new RequestTable();
        for (int i = 0; i < 5000; i++)
        {
            table.Add(Request(0, FrameFlags.OneWay));
        }

        Assert.Null(table.Find(0));
        Assert.InRange(table.LongestChain, 1, 20);
        Assert.Equal(5000, table.ToList().Count);
    }

    [Fact]
    public void A_correlation_used_twice_is_found_until_both_have_left()
    {
        var table = new RequestTable();
        RequestContext first = Request(7), second = Request(7);
        table.Add(first);
        table.Add(second);

        Assert.Same(second, table.Find(7));
        table.Remove(second);
        Assert.Same(first, table.Find(7));
        table.Remove(first);
        Assert.Null(table.Find(7));
    }

    // Nothing here asks them for their session or handler.
    private static RequestContext Request(uint correlation, FrameFlags flags = FrameFlags.None) =>
        new(null!, null!, new FrameHeader(8, 0x1000, flags, FrameHeader.CurrentVersion, correlation), default, 0, 0);
}
