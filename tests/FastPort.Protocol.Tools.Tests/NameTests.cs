using FastPort.Protocol.Tools.Contracts;
using Xunit;

namespace FastPort.Protocol.Tools.Tests;

/// <summary>Names are those of protoc's C# generator.</summary>
public sealed class NameTests
{
    [Theory]
    [InlineData("Walk", "Walk")]
    [InlineData("walk", "Walk")]
    [InlineData("walk_now", "WalkNow")]
    [InlineData("walkHTTP", "WalkHTTP")]
    [InlineData("walk2fast", "Walk2Fast")]
    [InlineData("_1st", "_1St")]
    [InlineData("game.v1_beta.move", "Game.V1Beta.Move")]
    public void Pascal(string name, string expected) => Assert.Equal(expected, CSharpNames.Pascal(name));

    [Theory]
    [InlineData("WalkAsync", "Walk")]
    [InlineData("walk_async", "Walk")]
    [InlineData("Async", "Async")]
    [InlineData("Walkasync", "Walkasync")]
    public void A_method_ends_in_Async_once(string name, string expected) => Assert.Equal(expected, CSharpNames.MethodName(name));

    [Fact]
    public void Classes_are_those_of_their_files()
    {
        using var protoc = new Protoc();
        protoc.Compile("other.proto", "syntax = \"proto3\"; package game.far_away; message Ask { message Part { message Piece {} } }");
        protoc.Compile("bare.proto", "syntax = \"proto3\"; message Ask {}");
        Contract contract = protoc.Read(
            "game.proto",
            Protoc.Game(
                """
                import "other.proto"; import "bare.proto"; import "google/protobuf/empty.proto";
                service Move {
                  option (fastport.first_type) = 0x1000;
                  rpc A(Ask) returns (far_away.Ask);
                  rpc B(far_away.Ask.Part.Piece) returns (.Ask);
                  rpc C(google.protobuf.Empty) returns (game.Answer);
                }
                """));

        Assert.Equal(
            [
                "global::Game.Ask", "global::Game.FarAway.Ask",
                "global::Game.FarAway.Ask.Types.Part.Types.Piece", "global::Ask",
                "global::Google.Protobuf.WellKnownTypes.Empty", "global::Game.Answer",
            ],
            contract.Services[0].Methods.SelectMany(static m => new[] { m.Request, m.Reply }));
    }
}
