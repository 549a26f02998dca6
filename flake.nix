# Not tested. `nix run . -- search "…"` in a clone; there is no flake.lock yet: the first `nix build` writes it.
{
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      cargo = builtins.fromTOML (builtins.readFile ./Cargo.toml);
    in
    {
      packages = nixpkgs.lib.genAttrs systems (
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
        in
        {
          default = pkgs.rustPlatform.buildRustPackage {
            pname = cargo.package.name;
            version = cargo.package.version;
            src = self;
            cargoLock.lockFile = ./Cargo.lock;
            # The clients of the engines of a team.
            buildFeatures = [ "team" ];
            # The tests start servers and need clients of the protocol.
            doCheck = false;
            meta = {
              description = cargo.package.description;
              license = with pkgs.lib.licenses; [ mit asl20 ];
              mainProgram = "cortex";
            };
          };
        }
      );
    };
}
