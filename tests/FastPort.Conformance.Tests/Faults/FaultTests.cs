using System.Text.Json.Nodes;
using FastPort.Conformance.Cases;
using FastPort.Conformance.Wire;
using Xunit;

namespace FastPort.Conformance.Tests.Faults;

/// <summary>A wrong client fails the case that is about its fault, with a reason that names it.</summary>
public sealed class FaultTests
{
    private const string NothingCame = "nothing came";

    // Cases that fail because something does not come end at this bound.
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(1);

    private static readonly Dictionary<string, (Func<Fault> Create, string Case, string Reason)> Faults = new(StringComparer.Ordinal)
    {
        ["no Cancel"] = (() => new Without("Cancel"), "requests/timeout", NothingCame),
        ["no reply to a Ping"] = (() => new Without("Pong"), "frames/ping (1)", NothingCame),
        ["no error before the end"] = (() => new Without("Error"), "frames/malformed (version 2)", "the client has ended the connection"),
        ["no end of the requests"] = (() => new Without("Request"), "streams/no-requests", NothingCame),
        ["names that are left out"] =
            (() => new Changing("Hello", static frame => frame with { Body = [] }), "handshake/first-frame", "Hello.routingId is ''"),
        ["another version"] =
            (() => new Changing("Request", static frame => frame with { Version = 2 }), "requests/reply", "its version is 2"),
        ["a wrong correlation"] =
            (() => new Changing("Reply", static frame => frame with { Correlation = frame.Correlation - 1 }), "handlers/echo (a body)",
                "correlation is"),
        ["a one-way message as a request"] =
            (() => new Changing("OneWay", static frame => frame with { Flags = 0, Correlation = 77 }), "requests/one-way", "it is Request"),
        ["a reply without its timing block"] =
            (() => new Changing("Reply", static frame => frame with { Flags = Frame.Reply }), "handlers/timing", "timing is 'false'"),
        ["a deadline without an agreement"] =
            (() => new Changing("Request", static frame => frame with { Flags = Frame.Deadline }),
                "handshake/no-extension-in-force (no field)", "Deadline is not allowed"),
        ["requests sent again"] = (() => new SendingAgain("Request"), "reconnect/cut-in-flight", "before the reply to a Ping"),
        ["items without credit"] = (() => new WithoutPatience(), "streams/requests", "before the reply to a Ping"),
        ["credit for what is not consumed"] = (() => new GrantingEarly(), "streams/replies-credit", "before the reply to a Ping"),
        ["a Goodbye that is ignored"] = (() => new DeafTo("Goodbye"), "goodbye/codes (ShuttingDown)", NothingCame),
        ["a code that is lost"] =
            (() => new Mishearing("Error", static frame => frame with { Body = [0x08, 0x09] }), "errors/codes (NotFound)", "code is '9'"),
        ["replies in the order of the requests"] =
            (() => new Mishearing("Reply", static frame => frame with { Correlation = frame.Correlation ^ 1 }), "requests/out-of-order",
                NothingCame),
        ["handles of the session before"] =
            (() => Tags("ReadTags", "handles", "[7]"), "tags/handles", "ReadTags.handles is"),
        ["a subscription with the handles of the session before"] =
            (() => Tags("SubscribeTags", "handles", "[7]"), "tags/watch-again", "SubscribeTags.handles is"),
        ["writes sent again"] = (() => new SendingAgain("WriteTags"), "tags/write-lost", "before the reply to a Ping"),
        ["a value in the column of another type"] =
            (() => Tags("WriteTags", "samples", """{ "count": 2, "types": "hex:0b0c", "floats": [20.5], "sizes": [0] }"""),
                "tags/write-statuses (for each)", "WriteTags.samples.doubles is '[]'"),
        ["statuses of writes that are lost"] =
            (() => new Mishearing("WrittenTags", static frame => frame with { Body = [] }), "tags/write-statuses (for all)",
                "statuses is '0'"),
        ["a quality that is lost"] =
            (() => new Mishearing("TagSamples", static frame => With(frame, "TagSamples", "statuses", "[]")),
                "tags/read-statuses (for all)", "samples.status is '0'"),
        ["no acknowledgment of updates"] = (() => new Without("AcknowledgeUpdates"), "tags/watch", NothingCame),
        ["updates acknowledged before they are taken"] =
            (() => new AcknowledgingEarly(), "tags/watch-unread", "before the reply to a Ping"),
    };

    public static TheoryData<string> Names => [.. Faults.Keys];

    [Theory]
    [MemberData(nameof(Names))]
    public async Task Fails_the_case_of_a_client_with(string fault)
    {
        (Func<Fault> create, string name, string reason) = Faults[fault];
        ConformanceCase one = Assert.Single(Suite.Cases, one => one.Name == name);
        await using var run = new SuiteRun("tcp", () => new FaultyAdapter(create()));

        CaseResult result = await run.PlayAsync(reason == NothingCame ? one with { Within = Bound } : one);

        Assert.Equal(Outcome.Failed, result.Outcome);
        Assert.Contains(reason, result.Reason, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Passes_the_cases_over_a_wire_without_a_fault()
    {
        await using var run = new SuiteRun("tcp", static () => new FaultyAdapter(new Changing("Hello", static frame => frame)));
        foreach (string name in Faults.Values.Select(static fault => fault.Case))
        {
            CaseResult result = await run.PlayAsync(Suite.Cases.Single(one => one.Name == name));

            Assert.True(result.Outcome == Outcome.Passed, string.Join('\n', Tap.Describe(result)));
        }
    }

    private static Changing Tags(string kind, string field, string value) => new(kind, frame => With(frame, kind, field, value));

    private static Frame With(Frame frame, string kind, string field, string value)
    {
        Field[] fields = MessageKind.Get(kind).Fields;
        JsonObject body = MessageBody.Decode(fields, frame.Body);
        body[field] = JsonNode.Parse(value);

        // Bytes are written otherwise than they are read.
        foreach (string name in Array.FindAll(fields, static one => one.Kind == FieldKind.Bytes).Select(static one => one.Name))
        {
            body[name] = $"hex:{body[name]}";
        }

        return frame with { Body = MessageBody.Encode(fields, body) };
    }
}
