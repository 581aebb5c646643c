using FastPort.Protocol;
using Google.Protobuf;
using Xunit;

namespace FastPort.Testing.Tests;

/// <summary>A substitute of a client, as docs/handlers.md shows it.</summary>
public sealed class AskingCashierTests
{
    // docs: substitute
    [Fact]
    public async Task A_bank_with_too_much_work_is_no_error()
    {
        var cashier = new AskingCashier(new Bank(static _ => throw new RequestFailedException(ErrorCode.Overloaded, "Too much work.")));

        Assert.Equal("Come back later.", await cashier.PayOutAsync("ann"));
    }

    private sealed class Bank(Func<Echo, Echo> answer) : IFastPortClient
    {
        public Task<byte[]> RequestAsync(
            ushort type, ReadOnlyMemory<byte> body, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
            Task.FromResult(answer(Echo.Parser.ParseFrom(body.Span)).ToByteArray());
    }

    // docs: end
    [Fact]
    public async Task A_substitute_answers_typed_calls()
    {
        var cashier = new AskingCashier(new Bank(static account => account.Payload.ToStringUtf8() == "ann" ? account : new Echo()));

        Assert.Equal("ann left", await cashier.PayOutAsync("ann"));
    }
}
