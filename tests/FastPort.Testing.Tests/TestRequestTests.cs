using Xunit;

namespace FastPort.Testing.Tests;

/// <summary>Requests for handlers that a test calls itself.</summary>
public sealed class TestRequestTests
{
    private const ushort Type = 0x1001;

    [Fact]
    public async Task A_handler_reads_the_body_and_its_answer_is_what_the_client_received()
    {
        await using TestRequest request = await TestRequest.CreateAsync(Type, new byte[] { 1, 2, 3 }, Patience.Token);

        Assert.Equal([1, 2, 3], request.Context.Body.ToArray());
        request.Context.Reply([7]);
        TestReply reply = await request.CompleteAsync(Patience.Token);

        Assert.True(request.Context.Answered);
        Assert.Equal((ErrorCode.None, string.Empty), (reply.Error, reply.Message));
        Assert.Equal([7], reply.Body.ToArray());
    }

    [Fact]
    public async Task An_error_has_its_code_and_its_sentence()
    {
        await using TestRequest request = await TestRequest.CreateAsync(Type, cancellationToken: Patience.Token);

        request.Context.Fail(ErrorCode.Forbidden, "Not today.");
        TestReply reply = await request.CompleteAsync(Patience.Token);

        Assert.Equal((ErrorCode.Forbidden, "Not today.", 0), (reply.Error, reply.Message, reply.Body.Length));
    }

    // A client repeats a request that a stopping server has refused.
    [Fact]
    public async Task The_code_of_a_stop_is_an_answer_as_others_are()
    {
        await using TestRequest request = await TestRequest.CreateAsync(Type, cancellationToken: Patience.Token);

        request.Context.Fail(ErrorCode.ShuttingDown, "Not here any more.");
        TestReply queued = await request.CompleteAsync(Patience.Token);
        TestReply inline = await TestRequest.RunAsync(
            Type, default, static (ref InlineRequest one) => one.Fail(ErrorCode.ShuttingDown, "Not here any more."), Patience.Token);

        Assert.Equal((ErrorCode.ShuttingDown, "Not here any more."), (queued.Error, queued.Message));
        Assert.Equal((ErrorCode.ShuttingDown, "Not here any more."), (inline.Error, inline.Message));
    }

    [Fact]
    public async Task Without_an_answer_the_body_is_empty()
    {
        await using TestRequest request = await TestRequest.CreateAsync(Type, cancellationToken: Patience.Token);

        TestReply reply = await request.CompleteAsync(Patience.Token);

        Assert.Equal((ErrorCode.None, 0), (reply.Error, reply.Body.Length));
    }

    [Fact]
    public async Task A_canceled_request_is_aborted_and_has_no_reply()
    {
        await using TestRequest request = await TestRequest.CreateAsync(Type, cancellationToken: Patience.Token);
        Task aborted = Task.Delay(Timeout.Infinite, request.Context.Aborted);

        request.Cancel();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => aborted.WaitAsync(Patience.Limit));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => request.CompleteAsync(Patience.Token));
    }

    [Fact]
    public async Task A_body_that_no_frame_can_have_is_refused_with_the_reason()
    {
        byte[] tooLarge = new byte[64 * 1024 * 1024];

        ArgumentException refused = await Assert.ThrowsAsync<ArgumentException>(
            () => TestRequest.CreateAsync(Type, tooLarge, Patience.Token));

        Assert.Contains("67108864 bytes", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_inline_handler_answers_or_fails()
    {
        TestReply sum = await TestRequest.RunAsync(Type, new byte[] { 1, 2 }, Sum, Patience.Token);
        TestReply refused = await TestRequest.RunAsync(Type, default, Sum, Patience.Token);

        Assert.Equal([3], sum.Body.ToArray());
        Assert.Equal((ErrorCode.MalformedBody, "Nothing to add."), (refused.Error, refused.Message));
    }

    private static void Sum(ref InlineRequest request)
    {
        if (request.BodySize == 0)
        {
            request.Fail(ErrorCode.MalformedBody, "Nothing to add.");
            return;
        }

        byte sum = 0;
        foreach (ReadOnlyMemory<byte> part in request.Body)
        {
            foreach (byte one in part.Span)
            {
                sum += one;
            }
        }

        request.Reply([sum]);
    }
}
